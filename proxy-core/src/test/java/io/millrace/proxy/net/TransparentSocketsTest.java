package io.millrace.proxy.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.access.ListenerConfig.Transparency;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the messages of {@link TransparentSockets}. {@code TransparentProxyTest} tests its effect. */
class TransparentSocketsTest {
    @ParameterizedTest
    @EnumSource(
            value = Transparency.class,
            names = {"IN", "OUT", "BOTH"})
    void messageNamesAddressKeyCauseAndRemedy(Transparency mode) {
        String message = TransparentSockets.refused(":3129", mode, new IOException("Operation not permitted"));
        for (String part : List.of(
                ":3129 cannot be transparent",
                "listen[].transparent: " + mode.name().toLowerCase(java.util.Locale.ROOT),
                "Operation not permitted",
                "CAP_NET_ADMIN",
                "AmbientCapabilities",
                "--cap-add NET_ADMIN")) {
            assertTrue(message.contains(part), message);
        }
    }

    /** A process without the capability can clear the option, and start without it. */
    @Test
    void addressesWithoutTransparencyNeedNoCapability() throws IOException {
        TransparentSockets.apply(":3129", Transparency.OFF, List.of());
        assertEquals(
                List.of(false, false),
                List.of(Transparency.OFF.acceptsDiverted(), Transparency.OFF.spoofsClientAddress()));
    }
}
