package io.millrace.proxy.fetch;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;

/** Runs the tests on an NIO event loop. */
class FetchOnNioTest extends FetchTest {

    @Override
    IoHandlerFactory transport() {
        return NioIoHandler.newFactory();
    }
}
