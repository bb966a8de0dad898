package io.millrace.proxy;

import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the budget for bytes in flight and of the rate of clients. */
class LiveMemoryTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @LiveKey("limits.memory_in_flight")
    void memoryInFlight() throws Exception {
        live.file("limits: {memory_in_flight: <32MiB|8MiB>}")
                .turns(
                        32L << 20,
                        8L << 20,
                        () -> live.proxy().proxy().memory().budget().budgetBytes());
    }

    @LiveKey("limits.response_rate_min")
    void responseRateMin() throws Exception {
        live.file("limits: {response_rate_min: <0|2KiB>}").turns(0L, 2048L, () -> live.proxy()
                .proxy()
                .loops()
                .get(0)
                .connections()
                .slowClients()
                .rateMin());
    }
}
