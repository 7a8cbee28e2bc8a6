// Loaded into a worker before its own code. After SIGUSR2 the process kills itself at the first acknowledgement after a confirm:
// the broker then has the retry, and also the message whose attempt it follows, whichever message is being acknowledged.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** @typedef {(this: unknown, ...args: unknown[]) => unknown} Method */
/** @typedef {{ prototype: { ack: Method; publish: Method } }} ChannelClass */

// A file that amqplib does not export: the prototypes of its channels.
const require = createRequire(import.meta.url);
const { Channel, ConfirmChannel } = /** @type {{ Channel: ChannelClass; ConfirmChannel: ChannelClass }} */ (
  require(join(dirname(require.resolve('amqplib')), 'lib/channel_model.js'))
);

let armed = false;
let confirmedSinceAck = false;
process.on('SIGUSR2', () => {
  armed = true;
});

const { ack } = Channel.prototype;
Channel.prototype.ack = function (...args) {
  if (armed && confirmedSinceAck) process.kill(process.pid, 'SIGKILL');
  confirmedSinceAck = false;
  return ack.apply(this, args);
};

const { publish } = ConfirmChannel.prototype;
ConfirmChannel.prototype.publish = function (...args) {
  const callback = /** @type {((...given: unknown[]) => void) | undefined} */ (args.pop());
  return publish.call(this, ...args, (/** @type {unknown[]} */ ...given) => {
    confirmedSinceAck = true;
    callback?.(...given);
  });
};
