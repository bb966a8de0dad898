package io.millrace.launcher.init;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.value.InvalidValueException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/**
 * A dialogue on a terminal. After an invalid answer, it prints the reason and repeats the question. Confined to one
 * thread.
 */
final class Interview {
    private static final int QUESTIONS = 5;

    /** Parses the text of an answer. */
    @FunctionalInterface
    interface Answer<T> {
        T read(String text) throws InvalidValueException;
    }

    private final BufferedReader in;
    private final PrintWriter out;

    Interview(BufferedReader in, PrintWriter out) {
        this.in = in;
        this.out = out;
    }

    /**
     * Asks a question until the answer is valid. Blocks.
     *
     * @param number number of the question, which is printed; 0 for a follow-up question without a number
     * @param defaultAnswer answer for an empty line; null if there is none
     * @throws LaunchException if the input ends
     */
    <T> T ask(int number, String question, @Nullable String defaultAnswer, Answer<T> answer)
            throws LaunchException, IOException {
        while (true) {
            out.print((number == 0 ? "    " : number + "/" + QUESTIONS + " ")
                    + question
                    + (defaultAnswer == null ? ": " : " [" + defaultAnswer + "]: "));
            out.flush();
            String line = in.readLine();
            if (line == null) {
                out.println();
                throw new LaunchException("the input ended; nothing was written", ExitCode.USAGE);
            }
            String text = line.strip();
            if (text.isEmpty() && defaultAnswer != null) {
                text = defaultAnswer;
            }
            try {
                return answer.read(text);
            } catch (InvalidValueException e) {
                out.println("    " + problem(e));
            }
        }
    }

    /** Prints a line of explanation. */
    void say(String line) {
        out.println(line);
    }

    /** Returns the message of an exception, followed by its suggestion if there is one. */
    static String problem(InvalidValueException e) {
        return e.problem() + (e.suggestion() == null ? "" : " (did you mean " + e.suggestion() + "?)");
    }
}
