package io.millrace.proxy.admin.history;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/events}: the latest events, oldest first. Thread-safe. */
public final class EventsResource implements AdminResource {
    public static final String PATH = "/v1/events";

    private static final int LIMIT_DEFAULT = 200;
    private static final int LIMIT_MAX = 2000;

    private final EventSource source;
    private final LongSupplier clockMillis;

    /** @param clockMillis time of day, epoch milliseconds */
    public EventsResource(EventSource source, LongSupplier clockMillis) {
        this.source = source;
        this.clockMillis = clockMillis;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        long now = clockMillis.getAsLong();
        long since = TimeParameter.millis(request, "since", now, Long.MIN_VALUE);
        long after = request.number("after", 0, Long.MAX_VALUE, -1);
        int limit = (int) request.number("limit", 1, LIMIT_MAX, LIMIT_DEFAULT);
        List<EventSource.Numbered> events = source.events(since, after, kinds(request), limit);
        responder.reply(AdminReply.json(json -> {
            json.writeNumberProperty("now", now / 1000);
            json.writeArrayPropertyStart("events");
            events.forEach(event -> write(json, event));
            json.writeEndArray();
        }));
    }

    private static void write(JsonGenerator json, EventSource.Numbered numbered) {
        Event event = numbered.event();
        json.writeStartObject();
        json.writeNumberProperty("number", numbered.number());
        json.writeStringProperty("at", Instant.ofEpochMilli(event.atMillis()).toString());
        json.writeNumberProperty("at_seconds", event.atMillis() / 1000);
        json.writeStringProperty("kind", event.kind().word());
        json.writeStringProperty("severity", event.kind().severity().word());
        json.writeStringProperty("subject", event.subject());
        json.writeStringProperty("text", event.text());
        json.writeNumberProperty("more", event.more());
        json.writeEndObject();
    }

    private static Set<EventKind> kinds(AdminRequest request) throws AdminException {
        Set<EventKind> kinds = EnumSet.noneOf(EventKind.class);
        for (String list : request.parameters("kind")) {
            for (String word : list.split(",", -1)) {
                EventKind kind = EventKind.of(word.strip());
                if (kind == null) {
                    throw new AdminException(
                            400,
                            "bad-request",
                            "kind: '" + word.strip() + "' is not a kind of event, expected one of "
                                    + String.join(", ", EventKind.words()));
                }
                kinds.add(kind);
            }
        }
        return kinds;
    }
}
