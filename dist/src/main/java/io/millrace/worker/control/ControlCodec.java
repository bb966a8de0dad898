package io.millrace.worker.control;

import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.MessageToMessageCodec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The codec of control messages between launcher and worker.
 *
 * <pre>
 * +----------------+--------+---------------------------------------------+
 * | length (4)     | type(1)| fields in the order of the record           |
 * +----------------+--------+---------------------------------------------+
 * text: length in bytes (4), UTF-8;  list, map: count (4), then the elements;  numbers big endian
 * </pre>
 * Not thread-safe; confined to the channel's event loop.
 */
public final class ControlCodec extends MessageToMessageCodec<ByteBuf, ControlMessage> {
    /**
     * Limit of a frame in bytes. Only messages with a configuration are long. They contain the text of up to a thousand
     * files, options, and the values set at run time ({@code millctl config set}).
     */
    static final int FRAME_LENGTH_MAX = ConfigDocument.LENGTH_MAX + 24 * 1024 * 1024;

    // ControlMessage describes each message and its sender.
    private static final int HELLO = 1;
    private static final int ASSIGNMENT = 2;
    private static final int READY = 3;
    private static final int BEAT = 4;
    private static final int FAILED = 5;
    private static final int RELOAD = 6;
    private static final int RELOADED = 7;
    private static final int REOPEN_LOGS = 8;
    private static final int RETURN_SOCKETS = 9;
    private static final int DRAIN = 10;
    private static final int DRAINING = 11;
    private static final int STANDBY = 12;
    private static final int SERVE = 13;
    private static final int WARMING_UP = 14;
    private static final int RELEASE_STORE = 15;
    private static final int STORE_RELEASED = 16;
    private static final int REOPEN_STORE = 17;
    private static final int STORE_REOPENED = 18;
    private static final int TAKEOVER_DONE = 19;
    private static final int PREDECESSOR_CLOSED = 20;
    private static final int CHANGE = 21;
    private static final int CHANGE_MADE = 22;
    private static final int TICKET_KEYS = 23;
    private static final int EVENT = 24;

    /** Adds the handlers for framing and messages to a pipeline. Later handlers receive {@link ControlMessage}s. */
    public static void addTo(ChannelPipeline pipeline) {
        pipeline.addLast(new LengthFieldBasedFrameDecoder(FRAME_LENGTH_MAX, 0, 4, 0, 4));
        pipeline.addLast(new ControlCodec());
    }

    private ControlCodec() {}

    @Override
    protected void encode(ChannelHandlerContext context, ControlMessage message, List<Object> out) {
        ByteBuf frame = context.alloc().buffer();
        frame.writeInt(0);
        write(message, frame);
        frame.setInt(0, frame.readableBytes() - 4);
        out.add(frame);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf frame, List<Object> out) {
        out.add(read(frame));
        if (frame.isReadable()) {
            throw new CorruptedFrameException("control message: " + frame.readableBytes() + " bytes too long");
        }
    }

    static void write(ControlMessage message, ByteBuf out) {
        if (message instanceof ControlMessage.Hello hello) {
            out.writeByte(HELLO).writeInt(hello.protocolVersion());
            writeListeners(hello.listeners(), out);
        } else if (message instanceof ControlMessage.Assignment assignment) {
            out.writeByte(ASSIGNMENT);
            writeListeners(assignment.listeners(), out);
            writeConfig(assignment.config(), out);
            out.writeBoolean(assignment.standby()).writeBoolean(assignment.warm());
        } else if (message instanceof ControlMessage.Ready ready) {
            out.writeByte(READY);
            writeText(ready.transport(), out);
            writeText(ready.tls(), out);
            writeText(ready.java(), out);
        } else if (message instanceof ControlMessage.Beat) {
            out.writeByte(BEAT);
        } else if (message instanceof ControlMessage.Failed failed) {
            out.writeByte(FAILED);
            writeText(failed.reason(), out);
        } else if (message instanceof ControlMessage.Reload reload) {
            out.writeByte(RELOAD).writeLong(reload.request());
            writeConfig(reload.config(), out);
        } else if (message instanceof ControlMessage.Reloaded reloaded) {
            out.writeByte(RELOADED).writeLong(reloaded.request());
            writeSettings(reloaded.settings(), out);
        } else if (message instanceof ControlMessage.ReopenLogs) {
            out.writeByte(REOPEN_LOGS);
        } else if (message instanceof ControlMessage.ReturnSockets) {
            out.writeByte(RETURN_SOCKETS);
        } else if (message instanceof ControlMessage.Drain drain) {
            out.writeByte(DRAIN).writeLong(drain.timeoutNanos());
        } else if (message instanceof ControlMessage.Draining) {
            out.writeByte(DRAINING);
        } else if (message instanceof ControlMessage.TicketKeys keys) {
            out.writeByte(TICKET_KEYS);
            writeText(keys.base64(), out);
        } else if (message instanceof ControlMessage.Standby) {
            out.writeByte(STANDBY);
        } else {
            writeHandOver(message, out);
        }
    }

    private static void writeHandOver(ControlMessage message, ByteBuf out) {
        if (message instanceof ControlMessage.Serve serve) {
            out.writeByte(SERVE).writeBoolean(serve.overlapping());
        } else if (message instanceof ControlMessage.WarmingUp warming) {
            out.writeByte(WARMING_UP).writeLong(warming.limitNanos());
        } else if (message instanceof ControlMessage.ReleaseStore) {
            out.writeByte(RELEASE_STORE);
        } else if (message instanceof ControlMessage.StoreReleased) {
            out.writeByte(STORE_RELEASED);
        } else if (message instanceof ControlMessage.ReopenStore) {
            out.writeByte(REOPEN_STORE);
        } else if (message instanceof ControlMessage.StoreReopened) {
            out.writeByte(STORE_REOPENED);
        } else if (message instanceof ControlMessage.TakeoverDone) {
            out.writeByte(TAKEOVER_DONE);
        } else if (message instanceof ControlMessage.PredecessorClosed) {
            out.writeByte(PREDECESSOR_CLOSED);
        } else if (message instanceof ControlMessage.Change change) {
            out.writeByte(CHANGE).writeLong(change.number()).writeInt(change.content().length);
            out.writeBytes(change.content());
        } else if (message instanceof ControlMessage.ChangeMade made) {
            out.writeByte(CHANGE_MADE).writeLong(made.number());
            writeText(made.failure(), out);
        } else if (message instanceof ControlMessage.WorkerEvent happened) {
            out.writeByte(EVENT);
            writeEvent(happened.event(), out);
        }
    }

    private static void writeEvent(Event event, ByteBuf out) {
        out.writeLong(event.atMillis());
        writeText(event.kind().word(), out);
        writeText(event.subject(), out);
        writeText(event.text(), out);
        out.writeLong(event.more());
    }

    private static Event readEvent(ByteBuf in) {
        long at = in.readLong();
        String word = readText(in);
        EventKind kind = EventKind.of(word);
        if (kind == null) {
            throw new CorruptedFrameException("control message: unknown kind of event " + word);
        }
        return new Event(at, kind, readText(in), readText(in), in.readLong());
    }

    static ControlMessage read(ByteBuf in) {
        int type = in.readUnsignedByte();
        return switch (type) {
            case HELLO -> new ControlMessage.Hello(in.readInt(), readListeners(in));
            case ASSIGNMENT ->
                new ControlMessage.Assignment(readListeners(in), readConfig(in), in.readBoolean(), in.readBoolean());
            case READY -> new ControlMessage.Ready(readText(in), readText(in), readText(in));
            case BEAT -> new ControlMessage.Beat();
            case FAILED -> new ControlMessage.Failed(readText(in));
            case RELOAD -> new ControlMessage.Reload(in.readLong(), readConfig(in));
            case RELOADED -> new ControlMessage.Reloaded(in.readLong(), readSettings(in));
            case REOPEN_LOGS -> new ControlMessage.ReopenLogs();
            case RETURN_SOCKETS -> new ControlMessage.ReturnSockets();
            case DRAIN -> new ControlMessage.Drain(in.readLong());
            case DRAINING -> new ControlMessage.Draining();
            case STANDBY -> new ControlMessage.Standby();
            case TICKET_KEYS -> new ControlMessage.TicketKeys(readText(in));
            case SERVE -> new ControlMessage.Serve(in.readBoolean());
            case WARMING_UP -> new ControlMessage.WarmingUp(in.readLong());
            case RELEASE_STORE -> new ControlMessage.ReleaseStore();
            case STORE_RELEASED -> new ControlMessage.StoreReleased();
            case REOPEN_STORE -> new ControlMessage.ReopenStore();
            case STORE_REOPENED -> new ControlMessage.StoreReopened();
            case TAKEOVER_DONE -> new ControlMessage.TakeoverDone();
            case PREDECESSOR_CLOSED -> new ControlMessage.PredecessorClosed();
            case CHANGE -> new ControlMessage.Change(in.readLong(), readBytes(in));
            case EVENT -> new ControlMessage.WorkerEvent(readEvent(in));
            case CHANGE_MADE -> new ControlMessage.ChangeMade(in.readLong(), readText(in));
            default -> throw new CorruptedFrameException("control message: unknown type " + type);
        };
    }

    private static void writeListeners(List<ListenerSockets> listeners, ByteBuf out) {
        out.writeInt(listeners.size());
        for (ListenerSockets listener : listeners) {
            writeText(listener.address(), out);
            writeText(listener.boundAddress(), out);
            out.writeInt(listener.count());
        }
    }

    private static List<ListenerSockets> readListeners(ByteBuf in) {
        int size = readCount(in);
        List<ListenerSockets> listeners = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            listeners.add(new ListenerSockets(readText(in), readText(in), in.readInt()));
        }
        return List.copyOf(listeners);
    }

    private static void writeConfig(ConfigSource config, ByteBuf out) {
        writeText(config.name(), out);
        writeText(config.document().directory().toString(), out);
        writeText(config.document().text(), out);
        writeTexts(config.document().included(), out);
        writeTexts(config.overrides(), out);
        writeTexts(config.overlay(), out);
    }

    private static ConfigSource readConfig(ByteBuf in) {
        String name = readText(in);
        Path directory = Path.of(readText(in));
        ConfigDocument document = new ConfigDocument(name, directory, readText(in), readTexts(in));
        return new ConfigSource(document, readTexts(in), readTexts(in));
    }

    private static void writeTexts(Map<String, String> texts, ByteBuf out) {
        out.writeInt(texts.size());
        for (Map.Entry<String, String> text : texts.entrySet()) {
            writeText(text.getKey(), out);
            writeText(text.getValue(), out);
        }
    }

    private static Map<String, String> readTexts(ByteBuf in) {
        int size = readCount(in);
        Map<String, String> texts = new LinkedHashMap<>();
        for (int i = 0; i < size; i++) {
            String key = readText(in);
            texts.put(key, readText(in));
        }
        return texts;
    }

    private static void writeSettings(List<SettingChange> settings, ByteBuf out) {
        out.writeInt(settings.size());
        for (SettingChange setting : settings) {
            writeText(setting.key(), out);
            writeText(setting.result(), out);
            writeText(setting.detail(), out);
        }
    }

    private static List<SettingChange> readSettings(ByteBuf in) {
        int size = readCount(in);
        List<SettingChange> settings = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            settings.add(new SettingChange(readText(in), readText(in), readText(in)));
        }
        return List.copyOf(settings);
    }

    private static void writeText(String text, ByteBuf out) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length).writeBytes(bytes);
    }

    private static byte[] readBytes(ByteBuf in) {
        byte[] bytes = new byte[readCount(in)];
        in.readBytes(bytes);
        return bytes;
    }

    private static String readText(ByteBuf in) {
        int length = readCount(in);
        return in.readCharSequence(length, StandardCharsets.UTF_8).toString();
    }

    /**
     * Reads a number of elements. Refuses more elements than remaining bytes, since each element has at least one byte.
     */
    private static int readCount(ByteBuf in) {
        int count = in.readInt();
        if (count < 0 || count > in.readableBytes()) {
            throw new CorruptedFrameException(
                    "control message: actual count=" + count + ", limit=" + in.readableBytes());
        }
        return count;
    }
}
