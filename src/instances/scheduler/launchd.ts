import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders, replaceFile } from '../../system/files.ts';
import type { Computer, Job, Scheduler } from './contract.ts';
import { mustRun, runTool } from './tool.ts';
import { xmlText } from './xml.ts';

/** Schedules with an agent in the user's session on macOS. */
export function launchd({ start, home, uid }: Computer): Scheduler {
  const folder = join(home, 'Library', 'LaunchAgents');
  const path = (name: string) => join(folder, `${name}.plist`);
  const session = `gui/${uid}`;
  // Ignores the result: launchctl fails if the agent is not loaded.
  const unload = (name: string) => runTool(start, ['launchctl', 'bootout', `${session}/${name}`]);
  return {
    name: 'launchd',
    startsWithin: () => 120_000,
    isHere: async () => (await runTool(start, ['launchctl', 'print', session])).code === 0,
    hasEntry: async (name) => existsSync(path(name)),
    async install(job) {
      makeFolders(folder, 0o755);
      await unload(job.name);
      await replaceFile(path(job.name), agentFile(job), { mode: 0o644 });
      // RunAtLoad starts the agent.
      await mustRun(start, ['launchctl', 'bootstrap', session, path(job.name)]);
    },
    async uninstall(name) {
      await unload(name);
      rmSync(path(name), { force: true });
    },
  };
}

export function agentFile({ name, command, env, every }: Job): string {
  const variables = Object.entries(env).flatMap(([variable, value]) => [
    `    <key>${xmlText(variable)}</key>`,
    `    <string>${xmlText(value)}</string>`,
  ]);
  const words = command.map((word) => `    <string>${xmlText(word)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xmlText(name)}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('\n')}
  </dict>
  <key>StartInterval</key>
  <integer>${every / 1000}</integer>
  <key>RunAtLoad</key>
  <true/>
</dict>
</plist>
`;
}
