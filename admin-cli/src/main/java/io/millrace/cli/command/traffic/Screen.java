package io.millrace.cli.command.traffic;

import java.util.List;

/** A screen on which each frame replaces the previous one. Confined to one thread. */
public interface Screen {
    /**
     * The size of a screen.
     *
     * @param width columns
     * @param height lines
     */
    record Size(int width, int height) {}

    /** The current size, which the user may change. */
    Size size();

    /** Replaces the shown lines. */
    void draw(List<String> lines);
}
