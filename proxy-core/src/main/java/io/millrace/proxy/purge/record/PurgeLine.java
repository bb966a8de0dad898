package io.millrace.proxy.purge.record;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Writes and reads the lines of the audit log, each a JSON object. A purge is a line with the action {@code purge}. Its
 * undo, cancellation and count are further lines with the same identifier.
 *
 * <p>Thread-safe: no state.
 */
final class PurgeLine {
    private static final JsonFactory FACTORY = new JsonFactory();

    private static final String PURGE = "purge";
    private static final String COUNT = "count";

    private PurgeLine() {}

    /** Returns the line of a purge, with a line feed. */
    static byte[] purge(PurgeRecord record) {
        return line(json -> {
            begin(json, record.id(), record.atMillis(), PURGE);
            client(json, record.client());
            json.writeStringProperty("scope", record.scope());
            json.writeStringProperty("target", record.target());
            optional(json, "site", record.site());
            json.writeStringProperty("mode", record.soft() ? "soft" : "hard");
            json.writeStringProperty("state", record.state().text());
            count(json, record.objects(), record.bytes());
        });
    }

    /** Returns the line of an undo, with a line feed. */
    static byte[] undo(String id, long atMillis, PurgeClient client) {
        return change(id, atMillis, client, "undo", PurgeState.UNDONE);
    }

    /** Returns the line of a cancellation, with a line feed. */
    static byte[] cancellation(String id, long atMillis, PurgeClient client) {
        return change(id, atMillis, client, "cancel", PurgeState.CANCELLED);
    }

    private static byte[] change(String id, long atMillis, PurgeClient client, String action, PurgeState to) {
        return line(json -> {
            begin(json, id, atMillis, action);
            client(json, client);
            json.writeStringProperty("state", to.text());
        });
    }

    /** Returns the line of a count, with a line feed. */
    static byte[] count(String id, long atMillis, long objects, long bytes) {
        return line(json -> {
            begin(json, id, atMillis, COUNT);
            count(json, objects, bytes);
        });
    }

    private interface Members {
        void write(JsonGenerator json);
    }

    private static byte[] line(Members members) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(256);
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            members.write(json);
            json.writeEndObject();
        }
        out.write('\n');
        return out.toByteArray();
    }

    private static void begin(JsonGenerator json, String id, long atMillis, String action) {
        json.writeStringProperty("id", id);
        json.writeStringProperty("at", Instant.ofEpochMilli(atMillis).toString());
        json.writeStringProperty("action", action);
    }

    private static void client(JsonGenerator json, PurgeClient client) {
        json.writeStringProperty("via", client.via());
        if (client.uid() >= 0) {
            json.writeNumberProperty("uid", client.uid());
        }
        optional(json, "token", client.token());
        optional(json, "address", client.address());
    }

    private static void optional(JsonGenerator json, String name, @Nullable String value) {
        if (value != null) {
            json.writeStringProperty(name, value);
        }
    }

    private static void count(JsonGenerator json, long objects, long bytes) {
        if (objects >= 0) {
            json.writeNumberProperty("objects", objects);
            json.writeNumberProperty("bytes", bytes);
        }
    }

    /**
     * Reads a line, and adds it to the records or changes a record. Skips invalid lines, and lines about unknown
     * purges.
     *
     * @param records records by identifier
     * @return the identifier in the line; null if the line is invalid
     */
    static @Nullable String read(String line, Map<String, PurgeRecord> records) {
        Map<String, String> members = members(line);
        String id = members.get("id");
        if (id == null || id.isEmpty()) {
            return null;
        }
        if (PURGE.equals(members.get("action"))) {
            records.put(id, record(id, members));
            return id;
        }
        PurgeRecord known = records.get(id);
        if (known != null) {
            PurgeRecord counted = members.containsKey("objects")
                    ? known.counted(number(members, "objects"), number(members, "bytes"))
                    : known;
            records.put(id, members.containsKey("state") ? counted.in(PurgeState.of(members.get("state"))) : counted);
        }
        return id;
    }

    private static PurgeRecord record(String id, Map<String, String> members) {
        PurgeClient client = new PurgeClient(
                members.getOrDefault("via", "admin"),
                number(members, "uid"),
                members.get("token"),
                members.get("address"));
        return new PurgeRecord(
                id,
                millis(members.getOrDefault("at", "")),
                client,
                members.getOrDefault("scope", ""),
                members.getOrDefault("target", ""),
                members.get("site"),
                "soft".equals(members.get("mode")),
                PurgeState.of(members.getOrDefault("state", "")),
                number(members, "objects"),
                number(members, "bytes"));
    }

    private static long millis(String at) {
        try {
            return Instant.parse(at).toEpochMilli();
        } catch (DateTimeException e) {
            return 0;
        }
    }

    private static long number(Map<String, String> members, String name) {
        try {
            return Long.parseLong(members.getOrDefault(name, "-1"));
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /**
     * Returns the members of the JSON object that are strings or integers. Returns no members if the line is not an
     * object.
     */
    private static Map<String, String> members(String line) {
        Map<String, String> members = new HashMap<>();
        try (JsonParser parser =
                FACTORY.createParser(ObjectReadContext.empty(), line.getBytes(StandardCharsets.UTF_8))) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return Map.of();
            }
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                JsonToken value = parser.nextToken();
                if (value == JsonToken.VALUE_STRING || value == JsonToken.VALUE_NUMBER_INT) {
                    members.put(name, parser.getString());
                } else {
                    parser.skipChildren();
                }
            }
            return members;
        } catch (JacksonException e) {
            // After a power failure the end of the line may be missing.
            return Map.of();
        }
    }
}
