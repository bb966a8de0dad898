package io.millrace.worker.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ControlCodecTest {
    private static final List<ListenerSockets> LISTENERS =
            List.of(new ListenerSockets(":0", ":8080", 2), new ListenerSockets("[::1]:81", "[::1]:81", 1));

    private static final ConfigSource CONFIG = new ConfigSource(
            new ConfigDocument(
                    "millrace.yaml",
                    Path.of("/etc/millrace"),
                    "listen: [\":8080\"] # Grüße\n",
                    Map.of("rules.d/a.yaml", "remap: []")),
            Map.of("cache.ram_size", "1GiB"),
            Map.of("cache.enabled", "false"));

    static Stream<ControlMessage> messages() {
        return Stream.of(
                new ControlMessage.Hello(1, List.of()),
                new ControlMessage.Hello(1, LISTENERS),
                new ControlMessage.Assignment(LISTENERS, CONFIG, true, false),
                new ControlMessage.WarmingUp(20_000_000_000L),
                new ControlMessage.Standby(),
                new ControlMessage.Serve(true),
                new ControlMessage.ReleaseStore(),
                new ControlMessage.StoreReleased(),
                new ControlMessage.ReopenStore(),
                new ControlMessage.StoreReopened(),
                new ControlMessage.TakeoverDone(),
                new ControlMessage.PredecessorClosed(),
                new ControlMessage.Change(-9, new byte[] {1, 2, 3}),
                new ControlMessage.ChangeMade(-9, "no disk"),
                new ControlMessage.Ready("epoll", "BoringSSL", "17"),
                new ControlMessage.Beat(),
                new ControlMessage.Failed("no disk"),
                new ControlMessage.Reload(-7, CONFIG),
                new ControlMessage.Reloaded(-7, List.of(new SettingChange("cache.ram_size", "applied", ""))),
                new ControlMessage.ReopenLogs(),
                new ControlMessage.TicketKeys("AAAA"),
                new ControlMessage.ReturnSockets(),
                new ControlMessage.Drain(30_000_000_000L),
                new ControlMessage.WorkerEvent(new Event(-5, EventKind.PURGE, "a.example", "purge by host", 3)),
                new ControlMessage.Draining());
    }

    @ParameterizedTest
    @MethodSource("messages")
    void readsItsOwnOutput(ControlMessage message) {
        EmbeddedChannel out = channel();
        out.writeOutbound(message);
        EmbeddedChannel in = channel();
        ByteBuf frame = out.readOutbound();
        // One byte at a time, because frames arrive in arbitrary pieces.
        while (frame.isReadable()) {
            in.writeInbound(frame.readRetainedSlice(1));
        }
        frame.release();

        assertEquals(message, in.readInbound());
        in.finishAndReleaseAll();
        out.finishAndReleaseAll();
    }

    @Test
    void carriesTheLongestConfigurationThatCanBeRead() {
        ConfigDocument longest = new ConfigDocument(
                "millrace.yaml",
                Path.of("/etc/millrace"),
                "#".repeat(ConfigDocument.LENGTH_MAX / 2),
                Map.of("rules.d/a.yaml", "#".repeat(ConfigDocument.LENGTH_MAX / 2)));
        ControlMessage message = new ControlMessage.Reload(1, new ConfigSource(longest, CONFIG.overrides(), Map.of()));
        EmbeddedChannel out = channel();
        out.writeOutbound(message);
        EmbeddedChannel in = channel();
        ByteBuf frame = out.readOutbound();
        in.writeInbound(frame);

        assertEquals(message, in.readInbound());
        in.finishAndReleaseAll();
        out.finishAndReleaseAll();
    }

    @Test
    void coversEveryMessage() {
        assertEquals(
                ControlMessage.class.getPermittedSubclasses().length,
                messages().map(Object::getClass).distinct().count());
    }

    @Test
    void refusesCountsBeyondTheFrame() {
        EmbeddedChannel in = channel();
        ByteBuf frame = Unpooled.buffer().writeInt(9).writeByte(1).writeInt(1).writeInt(Integer.MAX_VALUE);

        assertThrows(DecoderException.class, () -> in.writeInbound(frame));
        in.finishAndReleaseAll();
    }

    @Test
    void refusesBytesAfterTheMessage() {
        EmbeddedChannel in = channel();
        ByteBuf frame = Unpooled.buffer().writeInt(2).writeByte(4).writeByte(0);

        assertThrows(DecoderException.class, () -> in.writeInbound(frame));
        in.finishAndReleaseAll();
    }

    private static EmbeddedChannel channel() {
        EmbeddedChannel channel = new EmbeddedChannel();
        ControlCodec.addTo(channel.pipeline());
        return channel;
    }
}
