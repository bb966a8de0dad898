package io.millrace.proxy.access;

import io.netty.util.concurrent.EventExecutor;
import java.util.function.Consumer;

/** A check of credentials that takes too long for an event loop. */
@FunctionalInterface
public interface CredentialCheck {
    /** The result of a check. Each kind of credentials has its own results. */
    interface Result {}

    /**
     * The result of a check, with a digest of its input. The settings may have changed since the check began.
     *
     * @param digest digest of the credentials and of the settings of the check
     * @param result the result, which counts for this digest only
     */
    record Checked(CredentialDigest digest, Result result) {}

    /**
     * Begins the check.
     *
     * @param loop the event loop on which {@code then} is called
     * @param then receives the result, once
     */
    void begin(EventExecutor loop, Consumer<Checked> then);
}
