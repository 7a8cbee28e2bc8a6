import type { AnswerOf } from './operations.ts';

export type Me = AnswerOf<'get /api/v1/me'>;
export type Endpoint = AnswerOf<'get /api/v1/projects/{projectId}/endpoints/{endpointId}'>;
export type WebhookDetails = AnswerOf<'get /api/v1/webhooks/{id}'>;
export type Delivery = WebhookDetails['deliveries'][number];
export type Attempt = WebhookDetails['attempts'][number];
export type ListedWebhook = AnswerOf<'get /api/v1/projects/{projectId}/webhooks'>['items'][number];
export type Insights = AnswerOf<'get /v1/dashboard/insights/{projectId}'>;
export type Finding = Insights['findings'][number];
export type Project = AnswerOf<'get /api/v1/projects/{projectId}'>;
