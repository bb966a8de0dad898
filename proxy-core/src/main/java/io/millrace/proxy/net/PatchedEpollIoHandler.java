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
 * Netty's epoll (4.2.18) without two of its faults.
 *
 * <p>A handle that waits for nothing stays registered. Netty takes such a one out of epoll and, when it waits for something again, changes a
 * registration that is not there: {@code epoll_ctl} fails with ENOENT, a channel is closed with what it has not read, and a listening socket accepts
 * nothing any more. It happens to a channel that does not read while its peer's end arrives. Such a handle is told of errors here, once, as epoll tells
 * everybody.
 *
 * <p>A handle hears of its own descriptor only. Netty finds it by the descriptor's number; when one of the events fetched together closes a connection
 * and another is opened that gets its number, what remains to be told of the closed one reaches the new one: a hang-up ends it while it is being made.
 * Nothing that was fetched before a handle was registered is for it.
 *
 * <p>Confined to its event loop where Netty's is.
 */
final class PatchedEpollIoHandler implements IoHandler {
    private static final EpollIoOps NOTHING = EpollIoOps.EPOLLERR.with(EpollIoOps.EPOLLET);

    private final IoHandler epoll;
    private boolean tellsEvents;
    private long turn;

    private PatchedEpollIoHandler(IoHandler epoll) {
        this.epoll = epoll;
    }

    /** Makes one for each event loop. */
    static IoHandlerFactory newFactory() {
        IoHandlerFactory factory = EpollIoHandler.newFactory();
        return executor -> new PatchedEpollIoHandler(factory.newHandler(executor));
    }

    private record Registration(IoRegistration inEpoll) implements IoRegistration {
        @Override
        @SuppressWarnings("TypeParameterUnusedInFormals") // as Netty declares it
        public <T> T attachment() {
            return inEpoll.attachment();
        }

        @Override
        public long submit(IoOps ops) {
            return inEpoll.submit(ops instanceof EpollIoOps some && some.value() == 0 ? NOTHING : ops);
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

    /** Registered while events are told: it hears those of later turns. */
    @SuppressWarnings("try") // closes as the handle itself does
    private final class LateHandle implements EpollIoHandle {
        private final EpollIoHandle handle;
        private final long registeredIn = turn;

        LateHandle(EpollIoHandle handle) {
            this.handle = handle;
        }

        @Override
        public FileDescriptor fd() {
            return handle.fd();
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            if (turn != registeredIn) {
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
        turn++;
        tellsEvents = true;
        try {
            return epoll.run(context);
        } finally {
            tellsEvents = false;
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
        boolean late = tellsEvents && handle instanceof EpollIoHandle;
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
