package io.millrace.launcher.supervise;

import io.millrace.proxy.tls.TicketKeys;
import io.millrace.worker.control.ControlMessage;
import io.netty.channel.EventLoop;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The generator of the TLS session ticket keys that all workers share. A new key is created every
 * {@value TicketKeys#ROTATION_HOURS} hours.
 *
 * <p>A worker receives the keys before it serves, so that clients can resume sessions of its predecessor. The keys are
 * in memory only. Not thread-safe; confined to the supervisor's event loop.
 */
final class TicketKeyRotation {
    private final SecureRandom random = new SecureRandom();
    private TicketKeys keys = TicketKeys.generate(random);

    /**
     * Starts the rotation.
     *
     * @param toAll sends a message to every worker
     */
    void start(EventLoop loop, Consumer<ControlMessage> toAll) {
        var unused = loop.scheduleAtFixedRate(
                () -> toAll.accept(rotate()), TicketKeys.ROTATION_HOURS, TicketKeys.ROTATION_HOURS, TimeUnit.HOURS);
    }

    /** Creates a new key, and returns the message with all valid keys. */
    ControlMessage rotate() {
        keys = keys.rotated(random);
        return message();
    }

    /** The message with the valid keys. */
    ControlMessage message() {
        return new ControlMessage.TicketKeys(Base64.getEncoder().encodeToString(keys.bytes()));
    }
}
