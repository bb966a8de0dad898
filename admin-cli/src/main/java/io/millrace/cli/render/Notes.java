package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the notes in a response of the admin API. Stateless. */
public final class Notes {
    private Notes() {}

    /** Returns the strings of the member {@code notes}, safe to print. */
    public static List<String> of(JsonObject answer) {
        List<String> notes = new ArrayList<>();
        for (String note : answer.texts("notes")) {
            notes.add(Printable.of(note));
        }
        return notes;
    }
}
