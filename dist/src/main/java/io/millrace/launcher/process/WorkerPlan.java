package io.millrace.launcher.process;

import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.unix.FileDescriptor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a worker is started for. Immutable, as far as nobody closes the sockets.
 *
 * @param config what it serves
 * @param starter how it is started
 * @param sockets where it listens; null where workers bind for themselves
 */
public record WorkerPlan(
        ConfigSource config,
        WorkerStarter starter,
        /** Listening sockets by address; none where workers bind for themselves. */
        @Nullable ListeningSockets sockets) {
    public List<ListenerSockets> listeners() {
        return sockets == null ? List.of() : sockets.listeners();
    }

    /** Borrowed. */
    public List<FileDescriptor> descriptors() {
        return sockets == null ? List.of() : sockets.descriptors();
    }

    /** This plan with another configuration. */
    public WorkerPlan with(ConfigSource changed) {
        return new WorkerPlan(changed, starter, sockets);
    }

    /** Closes the sockets that {@code other} does not share. */
    public void closeSocketsExcept(@Nullable WorkerPlan other) {
        if (sockets != null) {
            sockets.closeExcept(other == null ? null : other.sockets());
        }
    }
}
