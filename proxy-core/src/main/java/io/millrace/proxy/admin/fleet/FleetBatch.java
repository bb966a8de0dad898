package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.purge.fleet.FleetCodec;
import io.millrace.proxy.purge.fleet.FleetMessage;
import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.proxy.purge.fleet.RefusedMessageException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Messages about purges that the launcher (parent process) passes to its worker (serving process). The body of a
 * request contains an object with the positions on its first line, and a message on each further line. Immutable.
 *
 * @param after the position after which the messages follow; null for none
 * @param to the position after the last message
 * @param isGap whether messages before the first one may be missing
 * @param isSoftGap whether missing messages make stored responses stale instead of removing them
 * @param messages the messages, in the order of the stream
 */
public record FleetBatch(
        @Nullable FleetPosition after,
        FleetPosition to,
        boolean isGap,
        boolean isSoftGap,
        List<FleetMessage> messages) {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final String AFTER = "after_";
    private static final String TO = "to_";

    /** Returns the body of a request. */
    public byte[] bytes() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(1024);
        try (var json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            FleetPosition before = after;
            if (before != null) {
                position(json, AFTER, before);
            }
            position(json, TO, to);
            json.writeBooleanProperty("gap", isGap);
            json.writeBooleanProperty("soft", isSoftGap);
            json.writeEndObject();
        }
        for (FleetMessage message : messages) {
            out.write('\n');
            out.writeBytes(FleetCodec.write(message));
        }
        return out.toByteArray();
    }

    private static void position(JsonGenerator json, String prefix, FleetPosition position) {
        json.writeStringProperty(prefix + "created", position.created());
        json.writeNumberProperty(prefix + "sequence", position.sequence());
        json.writeStringProperty(prefix + "id", position.id());
    }

    /**
     * Reads the body of a request.
     *
     * @throws AdminException if it has another format
     */
    static FleetBatch read(byte[] body) throws AdminException {
        List<byte[]> lines = lines(body);
        Map<String, Object> members = Json.members(lines.get(0));
        FleetPosition to = position(members, TO);
        if (to == null) {
            throw new AdminException(400, "bad-request", "the new position is missing");
        }
        List<FleetMessage> messages = new ArrayList<>();
        for (byte[] line : lines.subList(1, lines.size())) {
            try {
                messages.add(FleetCodec.read(line));
            } catch (RefusedMessageException e) {
                throw new AdminException(400, "bad-request", e.text());
            }
        }
        return new FleetBatch(
                position(members, AFTER),
                to,
                Boolean.TRUE.equals(members.get("gap")),
                Boolean.TRUE.equals(members.get("soft")),
                messages);
    }

    private static @Nullable FleetPosition position(Map<String, Object> members, String prefix) throws AdminException {
        String created = Json.member(members, prefix + "created", String.class);
        Long sequence = Json.member(members, prefix + "sequence", Long.class);
        String id = Json.member(members, prefix + "id", String.class);
        return created == null || sequence == null ? null : new FleetPosition(created, sequence, id == null ? "" : id);
    }

    private static List<byte[]> lines(byte[] body) {
        List<byte[]> lines = new ArrayList<>();
        int from = 0;
        for (int at = 0; at <= body.length; at++) {
            if (at == body.length || body[at] == '\n') {
                lines.add(Arrays.copyOfRange(body, from, at));
                from = at + 1;
            }
        }
        return lines;
    }
}
