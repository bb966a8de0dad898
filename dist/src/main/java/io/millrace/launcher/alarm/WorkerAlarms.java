package io.millrace.launcher.alarm;

import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** Parses the answer of a worker to {@code GET /v1/alarms}. Stateless. */
final class WorkerAlarms {
    private static final JsonFactory FACTORY = new JsonFactory();

    private WorkerAlarms() {}

    /** Returns the alarms of an answer. Skips kinds that this version does not know. */
    static List<Alarm> parse(String answer) throws IOException {
        List<Alarm> alarms = new ArrayList<>();
        try (JsonParser json = FACTORY.createParser(ObjectReadContext.empty(), answer)) {
            json.nextToken();
            while (json.nextToken() == JsonToken.PROPERTY_NAME) {
                boolean isList = json.currentName().equals("alarms");
                json.nextToken();
                if (!isList || json.currentToken() != JsonToken.START_ARRAY) {
                    json.skipChildren();
                    continue;
                }
                while (json.nextToken() == JsonToken.START_OBJECT) {
                    addAlarm(json, alarms);
                }
            }
            if (json.currentToken() != JsonToken.END_OBJECT) {
                throw new IOException("the worker's list of alarms is not complete");
            }
        } catch (JacksonException e) {
            throw new IOException("the worker's list of alarms is not JSON", e);
        }
        return alarms;
    }

    private static void addAlarm(JsonParser json, List<Alarm> alarms) {
        String kind = "";
        String subject = "";
        String text = "";
        while (json.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = json.currentName();
            json.nextToken();
            switch (name) {
                case "kind" -> kind = json.getString();
                case "subject" -> subject = json.getString();
                case "text" -> text = json.getString();
                default -> json.skipChildren();
            }
        }
        AlarmKind knownKind = AlarmKind.of(kind);
        if (knownKind != null) {
            alarms.add(new Alarm(knownKind, subject, text, -1));
        }
    }
}
