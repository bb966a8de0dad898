package io.millrace.proxy;

import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the live change of {@code admin.hosts}. */
class LiveHostsTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @LiveKey("admin.hosts")
    void hosts() throws Exception {
        live.file("admin: {hosts: <0|3>}").turns(false, true, () -> {
            live.get(live.fresh());
            return live.proxy().proxy().metricsText().contains("millrace_host_requests_total{");
        });
    }
}
