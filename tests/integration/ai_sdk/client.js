// Prints what the AI SDK shows of streams: a JSON line `[url, part]` for each part.
//
//   node client.js '{"provider": ..., "tool": ..., "steps": ..., "store": ..., "urls": [...]}'
//
// `provider` and `tool` are names from below; there need not be a tool. `steps` is how often
// the model is asked at most. Each URL is a base URL; one process reads many streams.

import { createOpenAI } from "@ai-sdk/openai";
import { createOpenResponses } from "@ai-sdk/open-responses";
import { isStepCount, streamText, tool } from "ai";
import { z } from "zod";

const asked = JSON.parse(process.argv[2]);
const apiKey = "none";

const providers = {
  openai: (baseURL) => createOpenAI({ apiKey, baseURL }).responses("demo"),
  "open-responses": (baseURL) =>
    createOpenResponses({ apiKey, name: "demo", url: `${baseURL}/responses` })("demo"),
};

const tools = {
  weather: tool({
    description: "The weather in a city.",
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `it is sunny in ${city}`,
  }),
  shout: createOpenAI({ apiKey }).tools.customTool({
    description: "Says it louder.",
    execute: (input) => `${input}!`,
  }),
};

for (const url of asked.urls) {
  const { fullStream } = streamText({
    model: providers[asked.provider](url),
    prompt: "Paris, please",
    tools: asked.tool && { [asked.tool]: tools[asked.tool] },
    stopWhen: isStepCount(asked.steps),
    maxRetries: 0,
    onError: () => {}, // Errors are parts, too.
    providerOptions: { openai: { store: asked.store } },
  });
  for await (const part of fullStream) {
    if (part.error instanceof Error) part.error = String(part.error);
    console.log(JSON.stringify([url, part]));
  }
}
