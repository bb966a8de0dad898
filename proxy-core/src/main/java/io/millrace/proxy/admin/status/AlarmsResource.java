package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmSource;
import java.time.Instant;
import java.util.List;
import java.util.function.LongSupplier;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/alarms}: the alarms that are raised now. Thread-safe. */
public final class AlarmsResource implements AdminResource {
    public static final String PATH = "/v1/alarms";

    private final AlarmSource source;
    private final LongSupplier clockMillis;

    /** @param clockMillis time of day, epoch milliseconds */
    public AlarmsResource(AlarmSource source, LongSupplier clockMillis) {
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
    public void handle(AdminRequest request, AdminResponder responder) {
        List<Alarm> alarms = source.alarms();
        responder.reply(AdminReply.json(json -> {
            json.writeNumberProperty("now", clockMillis.getAsLong() / 1000);
            json.writeArrayPropertyStart("alarms");
            alarms.forEach(alarm -> write(json, alarm));
            json.writeEndArray();
        }));
    }

    private static void write(JsonGenerator json, Alarm alarm) {
        json.writeStartObject();
        json.writeStringProperty("kind", alarm.kind().word());
        json.writeStringProperty("severity", alarm.kind().severity().word());
        json.writeStringProperty("subject", alarm.subject());
        json.writeStringProperty("text", alarm.text());
        if (alarm.sinceMillis() >= 0) {
            json.writeStringProperty(
                    "since", Instant.ofEpochMilli(alarm.sinceMillis()).toString());
            json.writeNumberProperty("since_seconds", alarm.sinceMillis() / 1000);
        }
        json.writeEndObject();
    }
}
