package io.millrace.cli.command.traffic;

import java.util.List;

/** A text screen that shows one frame of lines at a time. Confined to one thread. */
public interface Screen {
    /**
     * The size of a screen.
     *
     * @param width columns
     * @param height lines
     */
    record Size(int width, int height) {}

    /** Returns the current size. It may differ from the last call, since the user may resize the window. */
    Size size();

    /** Replaces the previous frame with these lines. */
    void draw(List<String> lines);
}
