package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests how long a refused permission is remembered. */
class NatsProblemsTest {
    private static final String NODES = "millrace.cdn.node.*";

    private final Connection connection = (Connection) Proxy.newProxyInstance(
            Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> null);
    /** Near the overflow, as a monotonic clock may be. */
    private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(2);

    private final NatsProblems problems = new NatsProblems("cdn", "", () -> now);

    private void refuse(String action, String subject) {
        problems.errorOccurred(connection, "Permissions Violation for " + action + " to \"" + subject + "\"");
    }

    private boolean isRefused() {
        return !problems.missingPermissions().isEmpty();
    }

    private void pass(long seconds) {
        now += TimeUnit.SECONDS.toNanos(seconds);
    }

    @ParameterizedTest
    @CsvSource({
        "Subscription, millrace.cdn.node.*",
        "Subscription, _INBOX.abc.*",
        "Publish, millrace.cdn.purge.a",
        "Publish, $JS.API.STREAM.INFO.MILLRACE_cdn",
    })
    void aRefusalIsKeptWhileTheSessionFailsAndUntilTheServersHaveAnsweredACheck(String action, String subject) {
        refuse(action, subject);
        pass(3600);
        assertTrue(isRefused(), "without a check");
        problems.checked();
        assertTrue(isRefused(), "at the first check");
        refuse(action, subject);
        pass(1);
        problems.checked();
        assertTrue(isRefused(), "the first check was refused");
        for (int i = 0; i < 4; i++) {
            pass(1);
            problems.checked();
        }
        assertTrue(isRefused(), "the servers have had 4 s for an answer");
        pass(1);
        problems.checked();
        assertFalse(isRefused());
    }

    @Test
    void aGrantedPermissionIsKnownAtTheSecondCheckAfterALongFailure() {
        refuse("Subscription", NODES);
        assertTrue(problems.refusesSubscription(NODES));
        pass(60);
        problems.checked();
        assertTrue(isRefused());
        pass(1);
        problems.checked();
        assertFalse(isRefused());
        assertFalse(problems.refusesSubscription(NODES));
    }

    @ParameterizedTest
    @CsvSource({
        "millrace.cdn.ask.n2, publish to millrace.cdn.ask.n2, ''",
        "millrace.cdn.ask.n3, '', ''",
        "$KV.MILLRACE_cdn_config.head, '', publish to $KV.MILLRACE_cdn_config.>",
        "$JS.API.STREAM.INFO.KV_MILLRACE_cdn_config, '', publish to $JS.API.>",
    })
    void aRefusalExplainsAFailedQueryOrPushForATime(String subject, String query, String config) {
        refuse("Publish", subject);
        pass(21);
        assertFalse(isRefused(), "purges do not need this permission");
        assertEquals(query.isEmpty(), problems.queryRefusal("n2").isEmpty());
        assertTrue(problems.queryRefusal("n2").contains(query));
        assertEquals(config.isEmpty(), problems.refusedConfig().isEmpty());
        assertTrue(problems.refusedConfig().contains(config));
        pass(10);
        assertFalse(isRefused());
        assertEquals("", problems.queryRefusal("n2") + problems.refusedConfig());
    }

    /** Each such refusal may have another subject, so they count as one. */
    @Test
    void refusalsOfOnePermissionAreNamedOnce() {
        refuse("Publish", "$JS.API.CONSUMER.CREATE.MILLRACE_cdn.a");
        refuse("Publish", "$JS.API.CONSUMER.CREATE.MILLRACE_cdn.b");
        refuse("Publish", "_INBOX.x.1");
        refuse("Subscription", "millrace.cdn.ask.a");
        assertEquals(
                "the NATS servers refuse the permission to publish to $JS.API.>: permit this to the user of this node,"
                        + " or correct fleet.name and fleet.node",
                problems.missingPermissions());
    }
}
