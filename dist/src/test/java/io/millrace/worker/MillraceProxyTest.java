package io.millrace.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.ReloadReport.Result;
import org.junit.jupiter.api.Test;

class MillraceProxyTest {
    /** A rejected setting would keep the launcher from giving the configuration to the next worker. */
    @Test
    void relaunchSettingsAreNotRejected() {
        assertEquals(
                "relaunch",
                MillraceProxy.change("worker.event_loops", Result.NEEDS_NEW_PROXY)
                        .result());
        assertEquals(
                "rejected",
                MillraceProxy.change("cache.ram_size", Result.NEEDS_NEW_PROXY).result());
        assertEquals("applied", MillraceProxy.change("via.name", Result.APPLIED).result());
    }
}
