package io.millrace.cli.command.shell;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/**
 * Makes Ctrl-C end the current command instead of the shell: it interrupts the thread of the command. The JDK's class
 * for signals is accessed by reflection, since it is unsupported; without it, Ctrl-C ends the shell.
 */
final class Interrupts implements InvocationHandler {
    private final Thread thread;

    private Interrupts(Thread thread) {
        this.thread = thread;
    }

    /** Interrupts this thread at each Ctrl-C from now on. */
    static void ofThisThread() {
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
            // Ctrl-C then ends the shell.
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
