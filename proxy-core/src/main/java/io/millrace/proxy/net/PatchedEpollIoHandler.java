package io.millrace.proxy.net;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;

/**
 * Netty's epoll handler (4.2.18) with corrections for two bugs.
 *
 * <p>First, Netty removes a handle without interests from epoll, and later modifies the missing registration.
 * Then {@code epoll_ctl} fails with ENOENT. A channel is closed with unread bytes, and a listening socket stops
 * accepting. This happens if the peer's FIN arrives while a channel does not read. This class keeps such a handle
 * registered for errors only, edge-triggered.
 *
 * <p>Second, Netty finds the handle of an event by the number of its descriptor. While Netty dispatches a batch
 * of events, one event may close a connection, and a new connection may get the same number. Later events of the
 * batch then reach the new connection, and a hang-up event would close it. In this class, a handle ignores events
 * of the batch during which it was registered.
 *
 * <p>Confined to its event loop, like Netty's handler.
 */
final class PatchedEpollIoHandler implements IoHandler {
    private static final EpollIoOps ERRORS_ONLY = EpollIoOps.EPOLLERR.with(EpollIoOps.EPOLLET);

    private final IoHandler epoll;
    private boolean dispatching;
    private long iteration;

    private PatchedEpollIoHandler(IoHandler epoll) {
        this.epoll = epoll;
    }

    /** Returns a factory that creates a handler for each event loop. */
    static IoHandlerFactory newFactory() {
        IoHandlerFactory factory = EpollIoHandler.newFactory();
        return executor -> new PatchedEpollIoHandler(factory.newHandler(executor));
    }

    private record Registration(IoRegistration inEpoll) implements IoRegistration {
        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // as declared by Netty
        public <T> T attachment() {
            return inEpoll.attachment();
        }

        @Override
        public long submit(IoOps ops) {
            return inEpoll.submit(ops instanceof EpollIoOps epollOps && epollOps.value() == 0 ? ERRORS_ONLY : ops);
        }

        @Override
        public boolean isValid() {
            return inEpoll.isValid();
        }

        @Override
        public boolean cancel() {
            return inEpoll.cancel();
        }
    }

    /** A handle that was registered while a batch of events was dispatched. It ignores the events of this batch. */
    @SuppressWarnings("try") // close() declares Exception, as in Netty's interface
    private final class LateHandle implements EpollIoHandle {
        private final EpollIoHandle handle;
        private final long registeredIn = iteration;

        LateHandle(EpollIoHandle handle) {
            this.handle = handle;
        }

        @Override
        public FileDescriptor fd() {
            return handle.fd();
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            if (iteration != registeredIn) {
                handle.handle(registration, event);
            }
        }

        @Override
        public void registered() {
            handle.registered();
        }

        @Override
        public void unregistered() {
            handle.unregistered();
        }

        @Override
        public void close() throws Exception {
            handle.close();
        }
    }

    @Override
    public void initialize() {
        epoll.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        iteration++;
        dispatching = true;
        try {
            return epoll.run(context);
        } finally {
            dispatching = false;
        }
    }

    @Override
    public void prepareToDestroy() {
        epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
        epoll.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        boolean late = dispatching && handle instanceof EpollIoHandle;
        return new Registration(epoll.register(late ? new LateHandle((EpollIoHandle) handle) : handle));
    }

    @Override
    public void wakeup() {
        epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return epoll.isCompatible(handleType);
    }
}
