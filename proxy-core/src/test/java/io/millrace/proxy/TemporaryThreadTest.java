package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class TemporaryThreadTest {
    @Test
    void runsTheTaskOnAThreadOfTheName() throws IOException {
        assertEquals(
                "one", TemporaryThread.run("one", () -> Thread.currentThread().getName()));
    }

    @Test
    void throwsTheFailureOfTheTask() {
        IOException failure = new IOException("no");
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () -> TemporaryThread.run("two", () -> {
                            throw failure;
                        })));
        CompletionException other = assertThrows(
                CompletionException.class,
                () -> TemporaryThread.run("three", () -> {
                    throw new IllegalStateException("never");
                }));
        assertInstanceOf(IllegalStateException.class, other.getCause());
    }
}
