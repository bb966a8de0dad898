package io.millrace.proxy.net;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;

/**
 * Netty's epoll, in which a handle that waits for nothing stays registered. Netty 4.2.18 takes such a one out of epoll and, when it waits for
 * something again, changes a registration that is not there: {@code epoll_ctl} fails with ENOENT, a channel is closed with what it has not read,
 * and a listening socket accepts nothing any more. It happens to a channel that does not read while its peer's end arrives.
 *
 * <p>Such a handle is told of errors here, once, as epoll tells everybody.
 *
 * <p>Confined to its event loop where Netty's is.
 */
final class SteadyEpoll implements IoHandler {
    private static final EpollIoOps NOTHING = EpollIoOps.EPOLLERR.with(EpollIoOps.EPOLLET);

    private final IoHandler epoll;

    private SteadyEpoll(IoHandler epoll) {
        this.epoll = epoll;
    }

    /** Makes one for each event loop. */
    static IoHandlerFactory newFactory() {
        IoHandlerFactory factory = EpollIoHandler.newFactory();
        return executor -> new SteadyEpoll(factory.newHandler(executor));
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

    @Override
    public void initialize() {
        epoll.initialize();
    }

    @Override
    public int run(IoHandlerContext context) {
        return epoll.run(context);
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
        return new Registration(epoll.register(handle));
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
