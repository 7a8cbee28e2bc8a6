import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot as root, type AppSource } from '@hqrelay/services/app-process';

/** Copies the built apps and packages into `folder`, so that a build during the run changes nothing. Throws when one is not built. */
export function copyBuiltApps(folder: string): AppSource {
  const ours = ['apps', 'packages'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
  );
  for (const path of ours.filter((each) => existsSync(join(root, each, 'tsconfig.build.json')))) {
    if (!existsSync(join(root, path, 'dist'))) throw new Error(`${path} is not built: run npm run build`);
    mkdirSync(join(folder, path), { recursive: true });
    cpSync(join(root, path, 'package.json'), join(folder, path, 'package.json'));
    cpSync(join(root, path, 'dist'), join(folder, path, 'dist'), { recursive: true });
  }
  linkDependencies(folder);
  return { kind: 'built', folder };
}

/** Links the installed packages, and the workspaces to their copies. */
function linkDependencies(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@hqrelay'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name.startsWith('.') || name === '@hqrelay') continue;
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(folder, 'node_modules/@hqrelay', name));
  }
}
