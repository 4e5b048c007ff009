package interop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"syscall"
	"testing"
	"time"
)

// javaClasspath returns the class path of the Java program built against a
// Redisson version, and builds it first unless that has been done for this very
// source. Only that first time needs Maven, and Maven Central.
func javaClasspath(tb testing.TB, version string) string {
	tb.Helper()
	if _, err := exec.LookPath("java"); err != nil {
		missing(tb, "no java")
	}
	home := filepath.Join("java", "target", version)
	classpath := filepath.Join(home, "classes") + string(os.PathListSeparator) + filepath.Join(home, "lib", "*")
	if err := os.MkdirAll(home, 0o755); err != nil {
		tb.Fatal(err)
	}
	defer lockDir(tb, filepath.Join("java", "target"))()

	stamp, want := filepath.Join(home, "stamp"), sourceHash(tb, version)
	if got, err := os.ReadFile(stamp); err == nil && string(got) == want {
		return classpath
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		missing(tb, "no mvn to build interop/java with")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-Dredisson.version="+version, "clean", "compile", "dependency:copy-dependencies")
	mvn.Dir = "java"
	started := time.Now()
	if out, err := mvn.CombinedOutput(); err != nil {
		missing(tb, fmt.Sprintf("mvn could not build against Redisson %s: %v\n%s", version, err, out))
	}
	tb.Logf("built against Redisson %s in %v", version, time.Since(started).Round(time.Second))
	if err := os.WriteFile(stamp, []byte(want), 0o644); err != nil {
		tb.Fatal(err)
	}
	return classpath
}

// sourceHash covers everything that the build depends on in this folder.
func sourceHash(tb testing.TB, version string) string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("java", "src", "main", "java", "interop", "*.java"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no Java source: %v", err)
	}
	sort.Strings(files)
	h := sha256.New()
	io.WriteString(h, version)
	for _, name := range append(files, filepath.Join("java", "pom.xml")) {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		fmt.Fprintf(h, "%s %d\n", name, len(text))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// lockDir keeps two test processes from building at the same time.
func lockDir(tb testing.TB, dir string) (unlock func()) {
	tb.Helper()
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		tb.Fatal(err)
	}
	return func() { f.Close() }
}
