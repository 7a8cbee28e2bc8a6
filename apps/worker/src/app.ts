import { createHealthRouter, type HealthDeps } from '@hqrelay/runtime/http/health';
import express, { type Express } from 'express';

/** Health, readiness and metrics: all that a worker serves. */
export function createApp(health: HealthDeps): Express {
  return express().use(createHealthRouter(health));
}
