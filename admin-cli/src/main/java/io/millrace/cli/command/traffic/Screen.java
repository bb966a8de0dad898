package io.millrace.cli.command.traffic;

import java.util.List;

/** Where one frame takes the place of the last. Confined to one thread. */
public interface Screen {
    /**
     * Its size.
     *
     * @param width columns
     * @param height lines
     */
    record Size(int width, int height) {}

    /** Now; an operator may change it. */
    Size size();

    /** Shows lines in place of what was shown. */
    void draw(List<String> lines);
}
