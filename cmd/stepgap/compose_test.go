package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/stepgap/stepgap/internal/app"
)

// Every role has a service of its name in the compose file, which gives it
// settings that there are.
func TestTheComposeFileRunsEveryRole(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "deploy", "compose.yaml"))
	require.NoError(t, err)
	var file struct {
		Services map[string]struct {
			Command     []string          `yaml:"command"`
			Environment map[string]string `yaml:"environment"`
			Ports       []string          `yaml:"ports"`
			ReadOnly    bool              `yaml:"read_only"`
			CapDrop     []string          `yaml:"cap_drop"`
			Profiles    []string          `yaml:"profiles"`
		} `yaml:"services"`
	}
	require.NoError(t, yaml.Unmarshal(b, &file))
	known := map[string]bool{app.KeyVariable: true}
	for _, s := range app.Settings() {
		known[s.Env] = true
	}
	for _, role := range app.AllRoles() {
		service, ok := file.Services[string(role)]
		require.True(t, ok, "no service %s", role)
		require.Equal(t, []string{"serve", string(role)}, service.Command)
		require.True(t, service.ReadOnly, role)
		require.Equal(t, []string{"ALL"}, service.CapDrop, role)
		require.Equal(t, "nats://nats:4222", service.Environment["STEPGAP_NATS"], role)
		for name := range service.Environment {
			require.True(t, known[name], "%s: %s is no setting", role, name)
		}
	}
	always := 0
	for name, service := range file.Services {
		if len(service.Profiles) == 0 {
			always++
		}
		for _, port := range service.Ports {
			require.True(t, strings.HasPrefix(port, "127.0.0.1:"), "%s: %s is published to other machines", name, port)
		}
	}
	require.Equal(t, len(app.AllRoles())+1, always, "the roles and NATS run without a profile")
}
