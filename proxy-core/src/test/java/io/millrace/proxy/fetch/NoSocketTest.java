package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.netty.channel.ChannelException;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests a process that has reached its limit of open files: no socket can be created. */
class NoSocketTest extends FetchFixture {

    /** Fails like a channel of Netty in this case. */
    public static final class NoSocket extends NioSocketChannel {
        public NoSocket() {
            super(provider());
        }

        private static SelectorProvider provider() {
            throw new ChannelException("too many open files");
        }
    }

    @Override
    IoHandlerFactory transport() {
        return NioIoHandler.newFactory();
    }

    @Override
    OriginClientBuilder configure(OriginClientBuilder builder) {
        return builder.channelTypes(NoSocket.class, NioDatagramChannel.class);
    }

    @Test
    void isALocalFailureReportedOnTheEventLoop() throws Exception {
        for (String host : List.of("127.0.0.1", "localhost")) {
            AtomicBoolean elsewhere = new AtomicBoolean();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onFailure(OriginFailure failed) {
                    elsewhere.set(!loop.inEventLoop());
                    super.onFailure(failed);
                }
            };
            start(get(Origin.http(host, 9)), response);
            assertEquals(Reason.INTERNAL, response.awaitFailure().reason());
            assertFalse(elsewhere.get(), "told by another thread");
            assertEquals(0, onLoop(() -> client.statistics().connectionsConnecting()));
        }
    }
}
