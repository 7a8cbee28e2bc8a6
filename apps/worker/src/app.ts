import { createHealthRouter, type HealthDeps } from '@hqrelay/runtime/http/health';
import express, { type Express } from 'express';

/** A worker serves health, readiness and metrics. */
export function createApp(health: HealthDeps): Express {
  return express().use(createHealthRouter(health));
}
