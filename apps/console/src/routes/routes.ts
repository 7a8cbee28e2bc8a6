import { adminLogRoutes } from './admin-log.ts';
import { alertRoutes } from './alerts.ts';
import { apiKeyRoutes } from './api-keys.ts';
import { archiveRoutes } from './archive.ts';
import { consoleLinkRoutes } from './console-links.ts';
import { deadLetterRoutes } from './dead-letters.ts';
import { deliveryRoutes } from './deliveries.ts';
import { endpointVerbs } from './endpoint-verbs.ts';
import { endpointRoutes } from './endpoints.ts';
import { insightRoutes } from './insights.ts';
import { liveRoutes } from './live.ts';
import { projectRoutes } from './projects.ts';
import { replayRoutes } from './replays.ts';
import { searchRoutes } from './search.ts';
import { secretRoutes } from './secrets.ts';
import { statisticsRoutes } from './statistics.ts';
import { sessionRoutes } from './sessions.ts';
import { oneWebhookRoutes } from './webhook.ts';
import { webhookRoutes } from './webhooks.ts';

/** Every operation of the HTTP API. */
export const routes = [
  ...projectRoutes,
  ...secretRoutes,
  ...endpointRoutes,
  ...endpointVerbs,
  ...webhookRoutes,
  ...oneWebhookRoutes,
  ...deliveryRoutes,
  ...searchRoutes,
  ...deadLetterRoutes,
  ...replayRoutes,
  ...statisticsRoutes,
  ...liveRoutes,
  ...alertRoutes,
  ...insightRoutes,
  ...apiKeyRoutes,
  ...consoleLinkRoutes,
  ...sessionRoutes,
  ...adminLogRoutes,
  ...archiveRoutes,
];
