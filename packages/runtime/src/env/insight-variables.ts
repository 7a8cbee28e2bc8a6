import { z } from 'zod';
import { connectionUrl } from './env-formats.ts';
import { variable } from './variable.ts';

/** The model that writes the summaries of insights. */
export const insightVariables = {
  ANTHROPIC_API_KEY: variable({
    key: 'anthropicApiKey',
    schema: z.string().regex(/^[\x21-\x7e]+$/, { error: 'must be visible ASCII characters without spaces' }),
    whenUnset: { value: undefined, meaning: 'insights are findings without a summary, and nothing is sent' },
    shown: 'secret',
    example: 'sk-ant-...',
    description:
      'The key of the Anthropic API. With it a model summarises the findings of insights (docs/insights.md).',
  }),
  ANTHROPIC_BASE_URL: variable({
    key: 'anthropicBaseUrl',
    schema: connectionUrl('https:', 'http:'),
    whenUnset: { text: 'https://api.anthropic.com' },
    shown: 'url',
    example: 'https://api.anthropic.com',
    description: 'Where the Messages API is, or a gateway that speaks it.',
  }),
  INSIGHTS_MODEL: variable({
    key: 'insightsModel',
    schema: z
      .string()
      .regex(/^[\w.:/@-]{1,200}$/, { error: 'must be the name of a model, such as claude-sonnet-5-5' }),
    whenUnset: { text: 'claude-sonnet-5-5' },
    shown: 'value',
    example: 'claude-sonnet-5-5',
    description: 'The model that writes the summaries. It must support structured outputs.',
  }),
} as const;
