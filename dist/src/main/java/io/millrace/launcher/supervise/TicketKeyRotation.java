package io.millrace.launcher.supervise;

import io.millrace.proxy.tls.TicketKeys;
import io.millrace.worker.control.ControlMessage;
import io.netty.channel.EventLoop;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Makes the TLS session ticket keys of all workers and renews them every {@value TicketKeys#ROTATION_HOURS} hours.
 *
 * <p>A worker gets them before it serves, so clients resume sessions of its predecessor. The keys are in memory only.
 * Confined to the supervisor's event loop.
 */
final class TicketKeyRotation {
    private final SecureRandom random = new SecureRandom();
    private TicketKeys keys = TicketKeys.generate(random);

    /** Rotates from now on; {@code toAll} sends to every worker. */
    void start(EventLoop loop, Consumer<ControlMessage> toAll) {
        var unused = loop.scheduleAtFixedRate(
                () -> toAll.accept(rotate()), TicketKeys.ROTATION_HOURS, TicketKeys.ROTATION_HOURS, TimeUnit.HOURS);
    }

    /** Makes a new key and returns the message with all that are kept. */
    ControlMessage rotate() {
        keys = keys.rotated(random);
        return message();
    }

    /** The message for a worker. */
    ControlMessage message() {
        return new ControlMessage.TicketKeys(Base64.getEncoder().encodeToString(keys.bytes()));
    }
}
