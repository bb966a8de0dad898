package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** The member {@code notes} of an answer. */
public final class Notes {
    private Notes() {}

    /** A sentence each. */
    public static List<String> of(JsonObject answer) {
        List<String> notes = new ArrayList<>();
        for (String note : answer.texts("notes")) {
            notes.add(Printable.of(note));
        }
        return notes;
    }
}
