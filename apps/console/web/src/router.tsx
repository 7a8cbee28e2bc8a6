import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router';
import { NotFound } from './layout/not-found.tsx';
import { PageFailed } from './layout/page-failed.tsx';
import { ProjectLayout } from './layout/project-layout.tsx';
import { SignedIn } from './layout/signed-in.tsx';
import { parseSearch, stringifySearch } from './layout/search-string.ts';
import { SearchPage } from './search/search-page.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import { parseFilters } from './webhooks/filters.ts';
import { HomePage } from './projects/home-page.tsx';

const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const signInRoute = createRoute({ getParentRoute: () => rootRoute, path: 'sign-in', component: SignInPage });
const signedInRoute = createRoute({ getParentRoute: () => rootRoute, id: 'signed-in', component: SignedIn });
const inside = <const Path extends string>(path: Path) => ({ getParentRoute: () => signedInRoute, path });

const homeRoute = createRoute({ ...inside('/'), component: HomePage });
const searchRoute = createRoute({
  ...inside('search'),
  validateSearch: ({ q }: Record<string, unknown>): { q?: string } => (typeof q === 'string' ? { q } : {}),
  component: SearchPage,
});
const projectRoute = createRoute({ ...inside('projects/$projectId'), component: ProjectLayout });

const ofProject = <const Path extends string>(path: Path) => ({ getParentRoute: () => projectRoute, path });
const webhookRoute = createRoute({
  ...ofProject('webhooks/$webhookId'),
  component: lazyRouteComponent(() => import('./webhook/webhook-page.tsx'), 'WebhookPage'),
});
const webhooksRoute = createRoute({
  ...ofProject('webhooks'),
  validateSearch: parseFilters,
  component: lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  signedInRoute.addChildren([
    homeRoute,
    searchRoute,
    projectRoute.addChildren([webhooksRoute, webhookRoute]),
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
