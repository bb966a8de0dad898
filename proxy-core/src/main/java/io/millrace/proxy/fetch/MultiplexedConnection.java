package io.millrace.proxy.fetch;

import io.millrace.proxy.fetch.http2.ConnectionListener;
import io.millrace.proxy.fetch.http2.Http2ClientConnection;
import io.millrace.proxy.fetch.http2.Http2ClientSettings;
import io.millrace.proxy.fetch.http2.StreamFailure;

/**
 * One HTTP/2 connection to an origin in its pool: carries calls, a stream each.
 *
 * <p>Its deadline is the idle timeout while it carries none. While it carries some, silence of the origin is answered with
 * a PING, and no answer to that with the end of the connection.
 *
 * <p>Confined to one event loop.
 */
final class MultiplexedConnection implements ConnectionListener {
    private final OriginPool pool;
    private final Http2ClientConnection wire;
    private final Deadline deadline;
    private FetchSettings settings;
    private int calls;
    private boolean served;
    private boolean probing;
    private boolean draining;
    private boolean closed;

    MultiplexedConnection(OriginPool pool, FetchSettings settings) {
        this.pool = pool;
        this.settings = settings;
        wire = new Http2ClientConnection(
                pool.client().http2(),
                new Http2ClientSettings(
                        settings.http2StreamsMax(), settings.http2WindowBytes(), settings.responseHeadMax()),
                this);
        deadline = new Deadline(pool.eventLoop(), this::deadlineReached);
    }

    /** The last handler of its channel. */
    Http2ClientConnection handler() {
        return wire;
    }

    OriginPool pool() {
        return pool;
    }

    /** Whether one more call may begin on it. */
    boolean hasCapacity() {
        return !draining && !closed && !probing && wire.capacity() > 0;
    }

    /** Whether it carries a call. */
    boolean isActive() {
        return calls > 0;
    }

    /** Sends a call's request on a stream of its own. Only while there is capacity. */
    void start(PooledCall call) {
        FetchSettings now = call.request().settings();
        if (now.keepAlive() || !settings.keepAlive()) {
            // One that asks for a connection to be closed, such as a health check, does not decide for the others.
            settings = now;
        }
        if (calls++ == 0) {
            pool.becameActive(this);
            deadline.set(settings.responseIdleTimeoutNanos());
        }
        pool.client().statistics().http2Streams++;
        pool.client().statistics().http2Requests++;
        StreamCarrier carrier = new StreamCarrier(this, wire, call, served);
        call.start(carrier);
    }

    /** It is kept for later calls: from now on it closes when its time is over. */
    void keepIdle() {
        deadline.set(settings.keepAliveIdleNanos());
    }

    /** A response was complete. */
    void served() {
        served = true;
    }

    /** A call has left it. */
    void streamEnded() {
        calls--;
        pool.client().statistics().http2Streams--;
        if (calls > 0 || closed) {
            return;
        }
        pool.becameIdle(this);
        if (draining) {
            wire.close();
        } else if (!settings.keepAlive() || pool.client().isClosed() || !pool.keepsIdle(settings)) {
            draining = true;
            pool.retire(this);
            wire.close();
        } else if (!probing) {
            keepIdle();
            pool.afterRoom();
        }
    }

    /** Closes it between calls. */
    void closeUnused() {
        draining = true;
        wire.close();
    }

    /** A stream was late: no other begins before the origin has given a sign of life. */
    void probe() {
        if (!closed && !probing) {
            probing = true;
            wire.ping();
            deadline.set(settings.connectTimeoutNanos());
        }
    }

    private void deadlineReached() {
        if (calls == 0 && !probing) {
            closeUnused();
        } else if (probing) {
            wire.die(
                    StreamFailure.Kind.RESET,
                    "no answer to a PING within " + PooledOriginClient.millis(settings.connectTimeoutNanos()));
        } else {
            probe();
        }
    }

    @Override
    public void onActivity() {
        boolean again = probing;
        probing = false;
        if (calls > 0) {
            deadline.set(settings.responseIdleTimeoutNanos());
        } else if (again) {
            keepIdle();
        }
        if (again) {
            pool.afterRoom();
        }
    }

    @Override
    public void onCapacity() {
        if (hasCapacity()) {
            pool.afterRoom();
        }
    }

    @Override
    public void onDraining() {
        draining = true;
        pool.retire(this);
    }

    @Override
    public void onClosed() {
        closed = true;
        deadline.cancel();
        pool.retire(this);
        pool.closed(this);
    }
}
