package io.millrace.cli.render;

import io.millrace.cli.via.ViaString;
import java.util.ArrayList;
import java.util.List;

/** Formats decoded letters of Via fields as text. Stateless. */
public final class ViaView {
    private static final int QUESTION_WIDTH = 29;

    private ViaView() {}

    /** Returns a headline for each proxy, and below it a line for each letter. */
    public static List<String> lines(List<ViaString> proxies, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (ViaString via : proxies) {
            String name = via.proxy().isEmpty() ? "" : Printable.of(via.proxy()) + " ";
            lines.add(paint.strong(name + "[" + Printable.of(via.text()) + "]"));
            for (ViaString.Letter letter : via.letters()) {
                String question = letter.question();
                lines.add("  " + letter.flag() + letter.letter() + "  " + question
                        + " ".repeat(Math.max(1, QUESTION_WIDTH - question.length())) + letter.means());
            }
        }
        return lines;
    }
}
