import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from './api/read.ts';
import { ToastProvider } from './components/toasts.tsx';
import { ZoneProvider } from './display/zone.tsx';
import { createAppRouter } from './routing/router.tsx';
import './styles.css';

const queryClient = createQueryClient();
const router = createAppRouter(queryClient);

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <ZoneProvider>
          <ToastProvider>
            <RouterProvider router={router} />
          </ToastProvider>
        </ZoneProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
