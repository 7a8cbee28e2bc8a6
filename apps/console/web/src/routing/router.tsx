import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router';
import { NotFound } from '../layout/not-found.tsx';
import { PageFailed } from '../layout/page-failed.tsx';
import { ProjectLayout } from '../layout/project-layout.tsx';
import { textParams } from './search-params.ts';
import { parseSearch, stringifySearch } from './search-string.ts';
import { SignedIn } from '../layout/signed-in.tsx';
import { HomePage } from '../projects/home-page.tsx';
import { SearchPage } from '../search/search-page.tsx';
import { SignInPage } from '../sign-in/sign-in-page.tsx';
import { parseFilters } from '../webhooks/filters.ts';

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'sign-in',
  component: SignInPage,
});
const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  component: SignedIn,
});

const inside = <const Path extends string>(path: Path) => ({ getParentRoute: () => signedInRoute, path });
const homeRoute = createRoute({
  ...inside('/'),
  validateSearch: textParams('cursor'),
  component: HomePage,
});
const searchRoute = createRoute({
  ...inside('search'),
  validateSearch: textParams('q'),
  component: SearchPage,
});
const adminLogRoute = createRoute({
  ...inside('admin-log'),
  validateSearch: textParams('projectId', 'cursor'),
  component: lazyRouteComponent(() => import('../admin-log/admin-log-page.tsx'), 'AdminLogPage'),
});
const accessRoute = createRoute({
  ...inside('access'),
  component: lazyRouteComponent(() => import('../access/access-page.tsx'), 'AccessPage'),
});
const projectRoute = createRoute({ ...inside('projects/$projectId'), component: ProjectLayout });

const ofProject = <const Path extends string>(path: Path) => ({ getParentRoute: () => projectRoute, path });
const overviewRoute = createRoute({
  ...ofProject('/'),
  validateSearch: textParams('last'),
  component: lazyRouteComponent(() => import('../overview/overview-page.tsx'), 'OverviewPage'),
});
const webhooksRoute = createRoute({
  ...ofProject('webhooks'),
  validateSearch: parseFilters,
  component: lazyRouteComponent(() => import('../webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});
const webhookRoute = createRoute({
  ...ofProject('webhooks/$webhookId'),
  component: lazyRouteComponent(() => import('../webhook/webhook-page.tsx'), 'WebhookPage'),
});
const endpointsRoute = createRoute({
  ...ofProject('endpoints'),
  component: lazyRouteComponent(() => import('../endpoints/endpoints-page.tsx'), 'EndpointsPage'),
});
const endpointRoute = createRoute({
  ...ofProject('endpoints/$endpointId'),
  component: lazyRouteComponent(() => import('../endpoints/endpoint-page.tsx'), 'EndpointPage'),
});
const deadLettersRoute = createRoute({
  ...ofProject('dead-letters'),
  validateSearch: textParams('endpointId', 'last', 'replayed', 'cursor', 'openedAt'),
  component: lazyRouteComponent(() => import('../dead-letters/dead-letters-page.tsx'), 'DeadLettersPage'),
});
const insightsRoute = createRoute({
  ...ofProject('insights'),
  validateSearch: textParams('last'),
  component: lazyRouteComponent(() => import('../insights/insights-page.tsx'), 'InsightsPage'),
});
const alertsRoute = createRoute({
  ...ofProject('alerts'),
  validateSearch: textParams('cursor'),
  component: lazyRouteComponent(() => import('../alerts/alerts-page.tsx'), 'AlertsPage'),
});
const settingsRoute = createRoute({
  ...ofProject('settings'),
  component: lazyRouteComponent(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  signedInRoute.addChildren([
    homeRoute,
    searchRoute,
    adminLogRoute,
    accessRoute,
    projectRoute.addChildren([
      overviewRoute,
      webhooksRoute,
      webhookRoute,
      endpointsRoute,
      endpointRoute,
      deadLettersRoute,
      insightsRoute,
      alertsRoute,
      settingsRoute,
    ]),
  ]),
]);

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    parseSearch,
    stringifySearch,
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultNotFoundComponent: NotFound,
    defaultErrorComponent: PageFailed,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
