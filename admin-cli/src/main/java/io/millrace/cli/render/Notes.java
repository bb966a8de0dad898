package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the member {@code notes} of a reply. */
public final class Notes {
    private Notes() {}

    /** Returns one sentence per note. */
    public static List<String> of(JsonObject answer) {
        List<String> notes = new ArrayList<>();
        for (String note : answer.texts("notes")) {
            notes.add(Printable.of(note));
        }
        return notes;
    }
}
