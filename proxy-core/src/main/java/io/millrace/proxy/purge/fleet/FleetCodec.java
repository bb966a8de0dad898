package io.millrace.proxy.purge.fleet;

import io.millrace.proxy.purge.fleet.RefusedMessageException.Reason;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
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
 * Writes and reads messages of a fleet (nodes that share purges), as one-line JSON:
 *
 * <pre>{"v":1,"fleet":"cdn","node":"a","instance":"x1","id":"a:s2k",
 *     "action":"url","targets":[...],"sites":[],"soft":true}
 * </pre>
 *
 * Unknown members are ignored. Thread-safe: no state.
 */
public final class FleetCodec {
    /** The version of the message format. */
    public static final int VERSION = 1;

    /** Limit of a message, in bytes. It is half of the limit of a request to the admin API. */
    public static final int MESSAGE_BYTES_MAX = 32 << 10;

    /** Limit of an identifier, in characters. */
    private static final int ID_LENGTH_MAX = 192;

    private static final JsonFactory FACTORY = new JsonFactory();

    private FleetCodec() {}

    /** Returns the message as one line of UTF-8, without a line feed. */
    public static byte[] write(FleetMessage message) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(256);
        FleetPurge purge = message.purge();
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            json.writeNumberProperty("v", VERSION);
            json.writeStringProperty("fleet", message.fleet());
            json.writeStringProperty("node", message.node());
            json.writeStringProperty("instance", message.instance());
            json.writeStringProperty("id", message.id());
            json.writeStringProperty("action", purge.action().word());
            strings(json, "targets", purge.targets());
            strings(json, "sites", purge.sites());
            json.writeBooleanProperty("soft", purge.soft());
            json.writeEndObject();
        }
        return out.toByteArray();
    }

    private static void strings(JsonGenerator json, String name, List<String> values) {
        json.writeArrayPropertyStart(name);
        values.forEach(json::writeString);
        json.writeEndArray();
    }

    /**
     * Reads a message.
     *
     * @param node the node that sent the message, taken from the NATS subject of the message
     * @param fleet name of this fleet
     * @throws RefusedMessageException if the message must not be applied
     */
    public static FleetMessage read(byte[] line, String node, String fleet) throws RefusedMessageException {
        FleetMessage message = read(line);
        check(message, node, fleet);
        return message;
    }

    /**
     * Checks that a message belongs to a fleet and a node.
     *
     * @throws RefusedMessageException if the message or its identifier belongs to another fleet or node
     */
    public static void check(FleetMessage message, String node, String fleet) throws RefusedMessageException {
        if (!message.fleet().equals(fleet)) {
            throw new RefusedMessageException(
                    Reason.OTHER_FLEET, "the message is of fleet '" + message.fleet() + "', this is '" + fleet + "'");
        }
        if (!message.node().equals(node) || FleetMessage.localId(node, message.id()) == null) {
            throw new RefusedMessageException(
                    Reason.FORGED_NODE,
                    "the message names node '" + message.node() + "' and id '" + message.id()
                            + "', but was sent by node '" + node + "'");
        }
    }

    /**
     * Reads a message without checking its fleet and node.
     *
     * @throws RefusedMessageException if the message is not complete
     */
    public static FleetMessage read(byte[] line) throws RefusedMessageException {
        if (line.length > MESSAGE_BYTES_MAX) {
            throw new RefusedMessageException(
                    Reason.TOO_LONG, "length of the message: actual=" + line.length + ", limit=" + MESSAGE_BYTES_MAX);
        }
        Map<String, Object> members = members(line);
        Object version = members.get("v");
        if (!Long.valueOf(VERSION).equals(version)) {
            throw new RefusedMessageException(
                    Reason.VERSION, "version of the message: actual=" + version + ", supported=" + VERSION);
        }
        String id = text(members, "id");
        if (id.length() > ID_LENGTH_MAX) {
            throw new RefusedMessageException(
                    Reason.MALFORMED, "length of id: actual=" + id.length() + ", limit=" + ID_LENGTH_MAX);
        }
        FleetPurge.Action action = action(text(members, "action"));
        FleetPurge purge = new FleetPurge(
                action, list(members, "targets"), list(members, "sites"), Boolean.TRUE.equals(members.get("soft")));
        if (!action.permits(purge.targets().size())) {
            throw new RefusedMessageException(
                    Reason.MALFORMED,
                    "number of targets of " + action.word() + ": "
                            + purge.targets().size());
        }
        return new FleetMessage(text(members, "fleet"), text(members, "node"), text(members, "instance"), id, purge);
    }

    private static FleetPurge.Action action(String word) throws RefusedMessageException {
        try {
            return FleetPurge.Action.valueOf(word.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new RefusedMessageException(Reason.VERSION, "unknown action '" + word + "'");
        }
    }

    private static String text(Map<String, Object> members, String name) throws RefusedMessageException {
        if (members.get(name) instanceof String text && !text.isEmpty()) {
            return text;
        }
        throw new RefusedMessageException(Reason.MALFORMED, "the member '" + name + "' is missing or no text");
    }

    private static List<String> list(Map<String, Object> members, String name) throws RefusedMessageException {
        List<String> texts = new ArrayList<>();
        if (members.get(name) instanceof List<?> list) {
            list.forEach(one -> texts.add(String.valueOf(one)));
            return texts;
        }
        throw new RefusedMessageException(Reason.MALFORMED, "the member '" + name + "' is missing or no list");
    }

    private static Map<String, Object> members(byte[] line) throws RefusedMessageException {
        Map<String, Object> members = new HashMap<>();
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), line)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new RefusedMessageException(Reason.MALFORMED, "the message is no JSON object");
            }
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = String.valueOf(parser.currentName());
                Object value = value(parser);
                if (value != null) {
                    members.put(name, value);
                }
            }
            if (parser.currentToken() != JsonToken.END_OBJECT || parser.nextToken() != null) {
                throw new RefusedMessageException(Reason.MALFORMED, "the message is more than one JSON object");
            }
        } catch (JacksonException e) {
            throw new RefusedMessageException(Reason.MALFORMED, "the message is not JSON: " + e.getOriginalMessage());
        }
        return members;
    }

    private static @Nullable Object value(JsonParser parser) throws RefusedMessageException {
        JsonToken token = parser.nextToken();
        if (token == JsonToken.VALUE_STRING) {
            return parser.getString();
        } else if (token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE) {
            return token == JsonToken.VALUE_TRUE;
        } else if (token == JsonToken.VALUE_NUMBER_INT) {
            return parser.getLongValue();
        } else if (token == JsonToken.START_ARRAY) {
            List<String> texts = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                if (parser.currentToken() != JsonToken.VALUE_STRING) {
                    throw new RefusedMessageException(Reason.MALFORMED, "a list has an element that is no text");
                }
                texts.add(parser.getString());
            }
            return texts;
        }
        parser.skipChildren();
        return null;
    }
}
