package io.millrace.launcher.fleet;

import io.nats.client.Options;
import io.nats.client.impl.SocketDataPortWithWriteTimeout;
import java.io.IOException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A socket to a NATS server that records failed TLS handshakes. The NATS library itself reports such a failure too
 * late, after its attempt to connect, and does not name the server. Only the library uses this class, and creates
 * instances by the class name.
 */
public final class NatsPort extends SocketDataPortWithWriteTimeout {
    private @Nullable NatsProblems problems;

    /** Creates a socket that is not connected. */
    public NatsPort() {}

    @Override
    public void afterConstruct(Options options) {
        super.afterConstruct(options);
        problems = options.getErrorListener() instanceof NatsProblems listener ? listener : null;
    }

    @Override
    public void upgradeToSecure() throws IOException {
        try {
            super.upgradeToSecure();
        } catch (SSLException e) {
            record(e);
            throw e;
        } catch (IOException e) {
            if (e.getCause() instanceof SSLException cause) {
                record(cause);
            }
            throw e;
        }
    }

    private void record(SSLException failure) {
        NatsProblems listener = problems;
        if (listener != null) {
            listener.tlsFailed(failure);
        }
    }
}
