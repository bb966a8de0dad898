package io.millrace.launcher.supervise;

import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerState;
import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.worker.control.ControlMessage;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.unix.FileDescriptor;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The dispatcher of control connections. It finds the worker of a connection by its process id, and passes messages and
 * descriptors to their receivers.
 *
 * <p>Not thread-safe; confined to the event loop.
 */
final class WorkerConnections implements ControlServer.Peers {
    /** Time for a worker to exit after its control socket has closed. */
    private static final long DISCONNECTED_GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The receiver of messages from workers. */
    interface Receiver {
        /** Returns the serving worker; null if there is none. */
        @Nullable
        WorkerProcess current();

        void received(WorkerProcess worker, ControlMessage message);
    }

    private final EventLoop loop;
    private final WorkerRegistry workers;
    private final Adoption adoption;
    private final Receiver receiver;

    /**
     * Creates a dispatcher.
     *
     * @param adoption receives the descriptors that workers send
     */
    WorkerConnections(EventLoop loop, WorkerRegistry workers, Adoption adoption, Receiver receiver) {
        this.loop = loop;
        this.workers = workers;
        this.adoption = adoption;
        this.receiver = receiver;
    }

    /**
     * Returns the worker with a process id. If the transport reports none (-1), returns the current worker, which is
     * then the only one.
     */
    private @Nullable WorkerProcess workerOf(long pid) {
        return pid < 0 ? receiver.current() : workers.byPid(pid);
    }

    @Override
    public boolean isExpected(long pid) {
        return workerOf(pid) != null;
    }

    @Override
    public void connected(long pid, Channel channel) {
        WorkerProcess worker = workerOf(pid);
        if (worker != null) {
            worker.connected(channel);
        }
    }

    @Override
    public void received(long pid, ControlMessage message) {
        WorkerProcess worker = workerOf(pid);
        if (worker != null) {
            receiver.received(worker, message);
        }
    }

    @Override
    public void disconnected(long pid) {
        WorkerProcess worker = workerOf(pid);
        if (worker == null || worker.state() == WorkerState.DRAINING) {
            return;
        }
        loop.schedule(
                () -> {
                    if (worker.state() != WorkerState.DYING && worker.state() != WorkerState.GONE) {
                        workers.kill(worker, "has closed its control socket");
                    }
                },
                DISCONNECTED_GRACE_NANOS,
                TimeUnit.NANOSECONDS);
    }

    @Override
    public @Nullable List<FileDescriptor> descriptorsFor(long pid) {
        WorkerProcess worker = workerOf(pid);
        if (worker == null || worker.plan() == null) {
            return null;
        }
        return worker.plan().descriptors();
    }

    @Override
    public void receivedDescriptors(long pid, List<FileDescriptor> descriptors) {
        WorkerProcess worker = workerOf(pid);
        if (worker == null) {
            ListeningSockets.closeAll(descriptors);
        } else {
            adoption.receivedDescriptors(worker, descriptors);
        }
    }
}
