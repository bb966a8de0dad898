package io.millrace.launcher.event;

import io.millrace.proxy.admin.history.EventSource.Numbered;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes and parses an event as one line of JSON. The file of events consists of such lines. Stateless. */
final class EventLine {
    private static final JsonFactory FACTORY = new JsonFactory();

    private EventLine() {}

    /** Returns the line, with a line feed, in UTF-8. */
    static byte[] of(Numbered numbered) {
        Event event = numbered.event();
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
            json.writeStartObject();
            json.writeNumberProperty("number", numbered.number());
            json.writeStringProperty(
                    "at", Instant.ofEpochMilli(event.atMillis()).toString());
            json.writeStringProperty("kind", event.kind().word());
            json.writeStringProperty("severity", event.kind().severity().word());
            json.writeStringProperty("subject", event.subject());
            json.writeStringProperty("text", event.text());
            json.writeNumberProperty("more", event.more());
            json.writeEndObject();
        }
        return text.append('\n').toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Parses a line. Returns null if it is incomplete, damaged, or of a kind that this version does not know. */
    static @Nullable Numbered parse(String line) {
        long number = -1;
        long more = 0;
        String at = "";
        String kind = "";
        String subject = "";
        String text = "";
        try (JsonParser json = FACTORY.createParser(ObjectReadContext.empty(), line)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                return null;
            }
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = json.currentName();
                json.nextToken();
                switch (name) {
                    case "number" -> number = json.getLongValue();
                    case "more" -> more = json.getLongValue();
                    case "at" -> at = json.getString();
                    case "kind" -> kind = json.getString();
                    case "subject" -> subject = json.getString();
                    case "text" -> text = json.getString();
                    default -> json.skipChildren();
                }
            }
            if (json.currentToken() != JsonToken.END_OBJECT) {
                return null;
            }
            EventKind eventKind = EventKind.of(kind);
            return eventKind == null || number < 0
                    ? null
                    : new Numbered(number, new Event(Instant.parse(at).toEpochMilli(), eventKind, subject, text, more));
        } catch (JacksonException | DateTimeException | ArithmeticException e) {
            return null;
        }
    }
}
