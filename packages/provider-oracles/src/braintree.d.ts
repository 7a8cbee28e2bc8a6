/** The few members of the package, which ships no types, that the oracle uses. */
declare module 'braintree' {
  type Form = { bt_signature: string; bt_payload: string };

  class BraintreeGateway {
    constructor(config: { environment: unknown; merchantId: string; publicKey: string; privateKey: string });
    webhookNotification: {
      parse(signature: string, payload: string): Promise<object>;
      verify(challenge: string): string;
    };
    webhookTesting: { sampleNotification(kind: string, id: string): Promise<Form> };
  }

  const braintree: { BraintreeGateway: typeof BraintreeGateway; Environment: { Sandbox: unknown } };
  export default braintree;
}
