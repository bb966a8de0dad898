package io.millrace.cli.command.shell;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * A signal handler for Ctrl-C, which ends only the current command of the shell. It interrupts the thread that runs the
 * command. The JDK's unsupported class {@code sun.misc.Signal} is accessed by reflection. If a JDK lacks this class,
 * Ctrl-C ends the shell.
 */
final class Interrupts implements InvocationHandler {
    private final Thread thread;

    private Interrupts(Thread thread) {
        this.thread = thread;
    }

    /** Installs a handler that interrupts the calling thread at each Ctrl-C. */
    static void installForThisThread() {
        try {
            Class<?> signalType = Class.forName("sun.misc.Signal");
            Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
            Object handler = Proxy.newProxyInstance(
                    Interrupts.class.getClassLoader(),
                    new Class<?>[] {handlerType},
                    new Interrupts(Thread.currentThread()));
            Object signal = signalType.getConstructor(String.class).newInstance("INT");
            signalType.getMethod("handle", signalType, handlerType).invoke(null, signal, handler);
        } catch (ReflectiveOperationException e) {
            // Without the handler, Ctrl-C ends the shell.
        }
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "handle" -> {
                thread.interrupt();
                yield null;
            }
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == arguments[0];
            default -> "Ctrl-C";
        };
    }
}
