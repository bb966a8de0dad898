package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.purge.record.PurgeRecord;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** Writes purges as JSON; no member is ever omitted. Thread-safe: no state. */
public final class PurgeJson {
    private PurgeJson() {}

    /** Writes the members of a purge. */
    public static void write(JsonGenerator json, PurgeView view) {
        PurgeRecord record = view.record();
        PurgeClient client = record.client();
        json.writeStringProperty("id", record.id());
        json.writeStringProperty("at", Instant.ofEpochMilli(record.atMillis()).toString());
        json.writeStringProperty("via", client.via());
        number(json, "uid", client.uid());
        text(json, "token", client.token());
        text(json, "address", client.address());
        json.writeStringProperty("scope", record.scope());
        json.writeStringProperty("target", record.target());
        text(json, "site", record.site());
        long stamp = PurgeId.stamp(record.id());
        number(json, "stamp", stamp == 0 ? -1 : stamp);
        json.writeStringProperty("mode", record.soft() ? "soft" : "hard");
        json.writeBooleanProperty("dry_run", PurgeId.isDryRun(record.id()));
        json.writeStringProperty("state", record.state().text());
        number(json, "objects", record.objects());
        number(json, "bytes", record.bytes());
        long until = view.undoUntilMillis();
        text(json, "undo_until", until == 0 ? null : Instant.ofEpochMilli(until).toString());
        text(json, "sweep", view.sweep());
        Count count = view.count();
        if (count == null) {
            json.writeNullProperty("count");
            return;
        }
        json.writeObjectPropertyStart("count");
        count(json, count);
        json.writeEndObject();
    }

    private static void count(JsonGenerator json, Count count) {
        json.writeNumberProperty("examined", count.examined());
        json.writeNumberProperty("entries", count.entries());
        json.writeBooleanProperty("ram_only_counted", false);
        text(json, "note", count.note());
        Json.strings(json, "urls", count.urls());
        json.writeBooleanProperty("more_urls", count.hasMoreUrls());
    }

    private static void number(JsonGenerator json, String name, long value) {
        json.writeName(name);
        if (value < 0) {
            json.writeNull();
        } else {
            json.writeNumber(value);
        }
    }

    private static void text(JsonGenerator json, String name, @Nullable String value) {
        if (value == null) {
            json.writeNullProperty(name);
        } else {
            json.writeStringProperty(name, value);
        }
    }
}
