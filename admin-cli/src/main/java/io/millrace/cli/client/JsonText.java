package io.millrace.cli.client;

import java.io.ByteArrayOutputStream;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Writes JSON in UTF-8: the bodies of requests, and results that {@code millctl} itself computes. */
public final class JsonText {
    private static final JsonFactory FACTORY = new JsonFactory();

    private JsonText() {}

    /** Returns an object without members. */
    public static byte[] emptyObject() {
        return object(json -> {});
    }

    /** Returns an object with one member. */
    public static byte[] object(String name, String value) {
        return object(json -> json.writeStringProperty(name, value));
    }

    /** Returns an object of strings, in the order of the map. */
    public static byte[] object(Map<String, String> members) {
        return object(json -> members.forEach(json::writeStringProperty));
    }

    /** Returns {@code {...,"tags":[...],"count":true}}; empty tags and a false count are omitted. */
    public static byte[] purge(Map<String, String> members, List<String> tags, boolean count) {
        return object(json -> {
            members.forEach(json::writeStringProperty);
            if (!tags.isEmpty()) {
                json.writeArrayPropertyStart("tags");
                tags.forEach(json::writeString);
                json.writeEndArray();
            }
            if (count) {
                json.writeBooleanProperty("count", true);
            }
        });
    }

    /** Returns an object with two members. */
    public static byte[] object(String name, String value, String otherName, String otherValue) {
        return object(json -> {
            json.writeStringProperty(name, value);
            json.writeStringProperty(otherName, otherValue);
        });
    }

    /** Returns {@code {"content","part","data"}} with the data in Base64. */
    public static byte[] part(String content, int part, byte[] data) {
        return object(json -> {
            json.writeStringProperty("content", content);
            json.writeNumberProperty("part", part);
            json.writeStringProperty("data", Base64.getEncoder().encodeToString(data));
        });
    }

    /** Returns {@code {"settings":{...},"save":...}}. */
    public static byte[] configSet(Map<String, String> settings, boolean save) {
        return object(json -> {
            json.writeObjectPropertyStart("settings");
            settings.forEach(json::writeStringProperty);
            json.writeEndObject();
            json.writeBooleanProperty("save", save);
        });
    }

    /** Returns {@code {"keys":[...]}}; {@code {"all":true}}, which resets every key, if the list is empty. */
    public static byte[] configReset(List<String> keys) {
        return object(json -> {
            if (keys.isEmpty()) {
                json.writeBooleanProperty("all", true);
                return;
            }
            json.writeArrayPropertyStart("keys");
            keys.forEach(json::writeString);
            json.writeEndArray();
        });
    }

    /**
     * Returns {@code {"to":...}} with the number of a revision; an empty object for 0, which means the previous one.
     */
    public static byte[] configRollback(int number) {
        return object(json -> {
            if (number > 0) {
                json.writeNumberProperty("to", number);
            }
        });
    }

    /**
     * Returns {@code {"metrics":[{"name","labels","value"}]}}; a value without a JSON number, such as NaN, is a string.
     */
    public static byte[] metrics(List<MetricSample> samples) {
        return object(json -> {
            json.writeArrayPropertyStart("metrics");
            for (MetricSample sample : samples) {
                json.writeStartObject();
                json.writeStringProperty("name", sample.name());
                writeLabels(json, sample);
                json.writeName("value");
                writeValue(json, sample.value());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }

    /** Returns {@code {"metrics":[{"name","kind","help","labels","series"}]}}. */
    public static byte[] families(List<MetricFamilies.Family> families) {
        return object(json -> {
            json.writeArrayPropertyStart("metrics");
            for (MetricFamilies.Family family : families) {
                json.writeStartObject();
                json.writeStringProperty("name", family.name());
                json.writeStringProperty("kind", family.kind());
                json.writeStringProperty("help", family.help());
                json.writeArrayPropertyStart("labels");
                family.labels().forEach(json::writeString);
                json.writeEndArray();
                json.writeNumberProperty("series", family.series());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }

    /**
     * Returns {@code {"seconds","metrics":[{"name","labels","value","change"}]}}. A counter has a member
     * {@code "per_second"} instead of {@code "change"}.
     */
    public static byte[] changes(double seconds, List<MetricChange> changes) {
        return object(json -> {
            json.writeNumberProperty("seconds", seconds);
            json.writeArrayPropertyStart("metrics");
            for (MetricChange change : changes) {
                json.writeStartObject();
                json.writeStringProperty("name", change.sample().name());
                writeLabels(json, change.sample());
                json.writeName("value");
                writeValue(json, change.sample().value());
                json.writeName(change.isRate() ? "per_second" : "change");
                writeValue(json, change.amount());
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }

    private static void writeLabels(JsonGenerator json, MetricSample sample) {
        json.writeObjectPropertyStart("labels");
        for (Map.Entry<String, String> label : sample.labels().entrySet()) {
            json.writeStringProperty(label.getKey(), label.getValue());
        }
        json.writeEndObject();
    }

    private static void writeValue(JsonGenerator json, double value) {
        if (Double.isNaN(value)) {
            json.writeString("NaN");
        } else if (Double.isInfinite(value)) {
            json.writeString(value > 0 ? "+Inf" : "-Inf");
        } else if (value == Math.rint(value) && Math.abs(value) < 1e15) {
            json.writeNumber((long) value);
        } else {
            json.writeNumber(value);
        }
    }

    /**
     * Returns {@code {"ok","problems":[...]}}, the format in which the admin API answers a configuration check.
     *
     * @param problems the lines that {@code millrace check} printed
     */
    public static byte[] check(boolean ok, List<CheckLine> problems) {
        return object(json -> {
            json.writeBooleanProperty("ok", ok);
            json.writeArrayPropertyStart("problems");
            for (CheckLine problem : problems) {
                problem.write(json);
            }
            json.writeEndArray();
        });
    }

    static byte[] object(Consumer<JsonGenerator> members) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(256);
        try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
            json.writeStartObject();
            members.accept(json);
            json.writeEndObject();
        }
        return out.toByteArray();
    }
}
